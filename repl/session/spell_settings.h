// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as the commands that lead to them: what `save FILE.aug` writes. Pure.
#pragma once

#include "repl/session/settings.h"

#include <string>
#include <vector>

namespace auger {

// In an order in which each is valid. A recording that is being written is left out: to begin it
// again would overwrite it.
std::vector<std::string> spell_settings(const Settings& settings);

} // namespace auger
