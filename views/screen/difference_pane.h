// SPDX-License-Identifier: GPL-3.0-or-later
// What slow calls do that fast ones do not, per call, and how sure that is: the functions that
// explain the tail, best first.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_difference_pane(const PaneOptions&);

} // namespace auger
