// SPDX-License-Identifier: GPL-3.0-or-later
// What a tick costs the thread that it hits, beside what the sampler measures of itself: the way
// into the interrupt and out of it, which is the same whatever is sampled. A thread of our own
// reads a counter without pause while it is sampled; the ticks stand in the steps between its
// readings.
#pragma once

#include "loader/kernel/programs.h"

#include <cstdint>

namespace auger {

// The mean in ns, when ticks come at about this rate; 0 when too few came to tell (no perf events).
// Takes about 30 ms, on a busy machine up to ten times that. No event of it reaches the ring.
uint64_t measure_sample_entry(Programs& programs, bool hardware, uint32_t rate_hz);

} // namespace auger
