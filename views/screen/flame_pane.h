// SPDX-License-Identifier: GPL-3.0-or-later
// The flame: boxes as wide as their share, callers on the root's side. The cursor and the zoom are
// paths of functions, so they stay on their frame whatever streams in.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_flame_pane(const PaneOptions&);

} // namespace auger
