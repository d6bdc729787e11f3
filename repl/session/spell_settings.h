// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as the commands that lead to them: what `save FILE.aug` writes. Pure.
#pragma once

#include "repl/session/settings.h"

#include <string>
#include <vector>

namespace auger {

// In an order in which each is valid. Two things are left out: a recording that is being written,
// which to begin again would overwrite, and a window that ends at a moment of this session.
std::vector<std::string> spell_settings(const Settings& settings);
// "4999 only handle > p95": the raised rate and its condition, behind `sample`. Empty without one.
std::string spell_raised(const Settings& settings);
// "sample wall 499 waits 9"; two commands with a raised rate.
std::string spell_sampling(const Settings& settings);

} // namespace auger
