// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine and these rights allow, as `doctor` tells it. Changes when more is told of one.
#pragma once

#include <string>

namespace auger {

// One line of `doctor`.
struct Capability {
    enum class State { available, degraded, missing };
    std::string name; // "uprobe_multi links"
    State state = State::available;
    std::string detail; // why, and what auger does instead
    std::string remedy; // what the user can do; may be empty
};

} // namespace auger
