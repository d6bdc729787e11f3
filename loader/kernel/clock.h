// SPDX-License-Identifier: GPL-3.0-or-later
// The clock that the BPF programs read too.
#pragma once

#include <cstdint>
#include <ctime>

namespace auger {

// CLOCK_MONOTONIC, ns.
inline uint64_t clock_ns() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace auger
