// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as RFC 4180 has them: slow calls, and histograms of probes. The first lines are comments
// when something was lost.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Times in ns; values that were read as NAME=TEXT, joined by blanks. Returns the number of calls.
Result<uint64_t> write_calls_csv(const Model&, const ExportQuery&, ByteSink&);
// A line a bucket in use: probe, from_ns, to_ns (not in it), calls. Returns the number of lines.
Result<uint64_t> write_histograms_csv(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
