// SPDX-License-Identifier: GPL-3.0-or-later
// The clock that the BPF programs read too.
#pragma once

#include "loader/base/read_clock.h"

#include <cstdint>
#include <ctime>

namespace auger {

// CLOCK_MONOTONIC, ns.
inline uint64_t clock_ns() {
    return read_clock(CLOCK_MONOTONIC);
}

} // namespace auger
