// SPDX-License-Identifier: GPL-3.0-or-later
// Prometheus' text format (version 0.0.4) of metrics.h. Histograms are classic ones, which can be
// added to those of other hosts: call_series.h.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of lines that are values.
Result<uint64_t> write_prometheus(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
