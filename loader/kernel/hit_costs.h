// SPDX-License-Identifier: GPL-3.0-or-later
// What a hit of a probe costs the thread that hits it. That depends on the kernel, the machine and
// the kind of instruction, by a factor of ten and more, so it is measured: on functions of our own,
// with the programs that probes of users run.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/features.h"
#include "loader/probes/code_place.h"

#include <cstdint>

namespace auger {

class LinkProcesses;
class SpecTable;

struct HitCosts {
    // Until it is measured, and where it cannot be: of a machine of some years ago.
    uint64_t optimised_ns = 300;
    uint64_t emulated_ns = 900;
    uint64_t stepped_ns = 1'800;
    uint64_t return_ns = 1'500; // of a return probe, beside the hit at the entry
    // Of a conditional jump that is an exit, when it does not jump; 0 until it is measured.
    uint64_t passed_jump_ns = 0;
    bool measured = false;

    uint64_t of(ProbeCost cost) const;
};

// Takes some milliseconds of the calling thread, which must be the process's first, before anybody
// is told of specs. The links are taken off later, by `processes`, or, without them, by a thread
// that nobody waits for.
HitCosts measure_hit_costs(Programs& programs, SpecTable& specs, const Features& features,
                           AttachWay way, LinkProcesses* processes);

} // namespace auger
