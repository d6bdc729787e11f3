// SPDX-License-Identifier: GPL-3.0-or-later
// Prometheus' text format (version 0.0.4): percentiles and counts of every probe, samples by class,
// and everything lost, by cause.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Percentiles are of the window in force, counts since each probe began. Returns the number of
// lines that are values.
Result<uint64_t> write_prometheus(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
