// SPDX-License-Identifier: GPL-3.0-or-later
// From a key pressed at a function to the console command that does it.
#pragma once

#include "views/model/model.h"
#include "views/screen/pane.h"

#include <string>

namespace auger {

// One of the first two is not empty.
struct Drill {
    std::string command;
    std::string why_not; // for the message line
    std::string note{};  // with the command's answer: what it is about, where that is another frame
};

// Drilling and moving the split's threshold. At a frame that has no
// code of its own in a file (the kernel's, an inlined or interpreted function) it is the nearest
// one around it that is meant, and the note says so.
Drill drill_command(Action, const Model&, const Scope&, const Subject&);
// The same for a probe by its text, which may not be in force yet.
Drill drill_at_probe(Action, const Model&, const std::string& probe);

// To where these durations of the probe's calls part next above (below) `from_ns`.
Drill drill_to_gap(const Model&, const ProbeInfo&, const WeightedHistogram& durations,
                   uint64_t from_ns, bool up);

} // namespace auger
