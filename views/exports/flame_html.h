// SPDX-License-Identifier: GPL-3.0-or-later
// A flame graph as one HTML file, with everything that it needs: zoom, search, a switch between
// classes and the difference of slow and fast ones, and the histogram of the split's probe.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of frames.
Result<uint64_t> write_flame_html(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
