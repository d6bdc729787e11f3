// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/syscall_names.h"

#include <fmt/format.h>

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace auger {

namespace {

struct SyscallName {
    uint64_t number;
    const char* name;
};

constexpr SyscallName names[] = {
#include "syscall_table.inc" // made by CMake, ascending
};

} // namespace

std::string syscall_name(uint64_t number) {
    const auto* found =
        std::lower_bound(std::begin(names), std::end(names), number,
                         [](const SyscallName& one, uint64_t n) { return one.number < n; });
    if (found == std::end(names) || found->number != number)
        return fmt::format("syscall {}", number);
    return found->name;
}

bool waits_for_descriptor(uint64_t number) {
    switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_ioctl:
#ifdef SYS_epoll_wait // older architectures have it
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
    case SYS_splice:
    case SYS_getdents64:
        return true;
    default:
        return false;
    }
}

} // namespace auger
