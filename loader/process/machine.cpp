// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/machine.h"

#include <sys/utsname.h>
#include <time.h>

namespace auger {
namespace {

uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace

MachineInfo this_machine() {
    MachineInfo info;
    utsname names{};
    if (uname(&names) == 0)
        info.name = names.nodename;
    const uint64_t wall = clock_ns(CLOCK_REALTIME), monotonic = clock_ns(CLOCK_MONOTONIC);
    if (wall > monotonic)
        info.boot_ns = wall - monotonic;
    return info;
}

} // namespace auger
