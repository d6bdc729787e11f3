// SPDX-License-Identifier: GPL-3.0-or-later
// What probes really do on this kernel, tried on a few instructions of auger's own. Kernels have
// had these faults, and distributions repair them in versions of their own, so that no version
// number tells.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/attachment.h"

namespace auger {

struct UprobeFindings {
    // A probe for one process fires in any of its threads. (A uprobe_multi link of Linux 6.6 and
    // some later ones does so in one.)
    bool fires_in_every_thread = false;
    // A user stack shows the true caller of a function that has a return probe. (Linux before 6.11
    // shows the trampoline.)
    bool stack_shows_caller = false;
};

// With probes that are attached in this way. Fails when they cannot be.
// `processes` take the probes off; null: a thread does.
Result<UprobeFindings> try_uprobes(AttachWay way, LinkProcesses* processes);

} // namespace auger
