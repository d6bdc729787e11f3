// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/syscall_names.h"

#include <fmt/format.h>

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

} // namespace auger
