// SPDX-License-Identifier: GPL-3.0-or-later
// The command that comes next on the way from samples to the cause of slow calls.
#pragma once

#include "views/model/suggestions.h"

#include <string>

namespace auger {

// "time handle", "split handle > p95" when that is timed, "diff slow fast" when there is a split.
// Empty when there is nothing to suggest.
std::string next_step(const Model&, const Suggestions&);

} // namespace auger
