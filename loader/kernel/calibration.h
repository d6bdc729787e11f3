// SPDX-License-Identifier: GPL-3.0-or-later
// What a sample costs the thread that it hits. A thread of our own reads the clock without pause
// while it is sampled; the sample stands in the gaps between its readings.
#pragma once

#include "loader/kernel/programs.h"

#include <cstdint>

namespace auger {

// Median gap in ns; 0 when too few samples came to tell (a very busy machine, no perf events).
// Takes about 30 ms. No event of it reaches the ring.
uint64_t measure_sample_gap(Programs& programs, bool hardware);

} // namespace auger
