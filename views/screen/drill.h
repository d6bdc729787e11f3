// SPDX-License-Identifier: GPL-3.0-or-later
// From a key pressed at a function to the console command that does it.
#pragma once

#include "views/model/model.h"
#include "views/screen/pane.h"

#include <string>

namespace auger {

// One of the two is not empty.
struct Drill {
    std::string command;
    std::string why_not; // for the message line
};

// Drilling and moving the split's threshold. At a frame of the kernel it is the function of the
// target's that is meant which called into it.
Drill drill_command(Action, const Model&, const Scope&, const Subject&);
// The same for a probe by its text, which may not be in force yet.
Drill drill_at_probe(Action, const Model&, const std::string& probe);

// The probe that times the function, if one does; the newest of several.
const ProbeInfo* probe_of(const Model&, FunctionId);

} // namespace auger
