// SPDX-License-Identifier: GPL-3.0-or-later
// How much CPU time passes in calls of some functions, by samples: what bounds how often they can
// be called, as long as their calls are not shorter than so much.
#pragma once

#include "views/model/model.h"

#include <span>
#include <string>
#include <vector>

namespace auger {

struct TimeInFunctions {
    double cpu_ns = 0;      // of all samples
    std::vector<double> ns; // by name; a stack counts as often as the function is on it
};

// `names`: whole, as in symbols. Of time on the CPU only.
TimeInFunctions time_in_functions(const Model&, const Window&, std::span<const std::string> names);

} // namespace auger
