// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of the flame as `flame under` takes it.
#pragma once

#include "views/model/flame_tree.h"
#include "views/model/model.h"

#include <string>

namespace auger {

// Its function, and as many of its callers before it as tell it from every other frame of the tree:
// "handle", "route;fetch". Not quoted.
std::string zoom_text(const Model&, const FlameTree&, const FlamePath&);

} // namespace auger
