// SPDX-License-Identifier: GPL-3.0-or-later
// Samples and slow calls over the last minutes, in few rows; a span of them narrows what all panes
// show.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_strip_pane(const PaneOptions&);

} // namespace auger
