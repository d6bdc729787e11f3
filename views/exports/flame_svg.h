// SPDX-License-Identifier: GPL-3.0-or-later
// A flame graph as one picture, without script: widths are time, hovering tells a frame's name and
// figures.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of frames drawn; those too narrow to be seen are counted in the picture.
Result<uint64_t> write_flame_svg(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
