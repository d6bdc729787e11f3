// SPDX-License-Identifier: GPL-3.0-or-later
// The first row: what is observed and how, how the samples are classed, and what it costs.
#pragma once

#include "views/screen/screen.h"

namespace auger {

// `sums`: of the samples that are shown, by class.
void draw_status_line(Canvas&, size_t y, const Model&, const ScreenState&, const ClassSums& sums,
                      bool frozen, bool unicode);

} // namespace auger
