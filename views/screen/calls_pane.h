// SPDX-License-Identifier: GPL-3.0-or-later
// The slow calls that were traced, and one of them in full.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_calls_pane(const PaneOptions&);

} // namespace auger
