// SPDX-License-Identifier: GPL-3.0-or-later
// One of the kernel's clocks, in nanoseconds. Hardly ever changes.
#pragma once

#include <cstdint>
#include <ctime>

namespace auger {

inline uint64_t read_clock(clockid_t clock) {
    timespec now = {};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace auger
