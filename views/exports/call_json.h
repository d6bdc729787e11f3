// SPDX-License-Identifier: GPL-3.0-or-later
// Slow calls and histograms as one JSON document each, of the objects that the console answers with
// under --json. Their schemas are in schemas/.
#pragma once

#include "views/exports/export.h"

namespace auger {

// Returns the number of calls.
Result<uint64_t> write_calls_json(const Model&, const ExportQuery&, ByteSink&);
// Returns the number of buckets in use.
Result<uint64_t> write_histograms_json(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
