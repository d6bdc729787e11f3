// SPDX-License-Identifier: GPL-3.0-or-later
// Time in nanoseconds, and the kernel's clocks. Hardly ever changes.
#pragma once

#include <cstdint>
#include <ctime>

namespace auger {

inline constexpr uint64_t millisecond_ns = 1'000'000, second_ns = 1'000'000'000;

inline uint64_t read_clock(clockid_t clock) {
    timespec now = {};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * second_ns + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace auger
