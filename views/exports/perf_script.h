// SPDX-License-Identifier: GPL-3.0-or-later
// The text of `perf script`, one record a sample: what FlameGraph's stackcollapse-perf.pl,
// speedscope, Firefox Profiler and many others read. Events are `cpu`, `blocked` and `runnable`;
// the period is ns.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of samples. Those that have faded under an ewma window count no less.
Result<uint64_t> write_perf_script(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
