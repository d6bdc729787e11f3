// SPDX-License-Identifier: GPL-3.0-or-later
// What a tick costs the thread that it hits, beside what the sampler measures of itself: the way
// into the interrupt and out of it, which is the same whatever is sampled, but not on all CPUs:
// they may be of different kinds, or virtual ones whose hosts have different things to do. On each
// CPU a thread of our own reads a counter without pause while it is sampled; the ticks stand in the
// steps between its readings.
#pragma once

#include "loader/kernel/programs.h"

#include <cstdint>

namespace auger {

// Measures it for ticks that come at about this rate, and writes the mean of each CPU to where the
// sampler reads it; that of all to CPUs where auger may not run, or where too few ticks came to
// tell. Without any (no perf events) what is there stays. Takes about 30 ms, on all CPUs at the
// same time, on a busy machine up to ten times that. No event of it reaches the ring.
void calibrate_ticks(Programs& programs, bool hardware, uint32_t rate_hz);

// What a sample of ours cost, on average over the CPUs, in ns; 0: not calibrated.
uint64_t calibrated_tick_ns(const Programs& programs);

} // namespace auger
