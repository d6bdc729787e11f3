// SPDX-License-Identifier: GPL-3.0-or-later
// Durations of a timed function's calls, with percentiles and thresholds. The threshold moves, and
// a range of durations narrows what all panes show.
#pragma once

#include "views/screen/panes.h"

namespace auger {

std::unique_ptr<Pane> make_histogram_pane(const PaneOptions&);

} // namespace auger
