// SPDX-License-Identifier: GPL-3.0-or-later
// Functions by their own and their total time, with their part of each class of a split; callers
// and callees of one.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_table_pane(const PaneOptions&);

} // namespace auger
