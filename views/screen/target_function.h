// SPDX-License-Identifier: GPL-3.0-or-later
// Probes are for functions of the target's files. From any frame to the one that is meant.
#pragma once

#include "views/model/model.h"
#include "views/screen/pane.h"

#include <optional>

namespace auger {

// The subject's function, if it has code of its own in a file; else the nearest of its callers that
// is. Where the callers are not known: the one with most of its time, of slow calls where there is
// a split.
std::optional<FunctionId> function_of_target(const Model&, const Scope&, const Subject&);

} // namespace auger
