// SPDX-License-Identifier: GPL-3.0-or-later
// pprof's profile.proto, gzipped: https://github.com/google/pprof/blob/main/proto/profile.proto
#pragma once

#include "views/exports/export.h"
#include "views/exports/profile_size.h"
#include "views/exports/service_identity.h"

#include <map>
#include <string>

namespace auger {

// Values: samples (count), cpu, blocked and runnable (nanoseconds). Labels: class, machine,
// process, thread, probe (the innermost timed call around) as text, pid and tid as numbers. What is
// lost stands in the comments. Its time is the wall clock's at its beginning, where the stream
// tells that (Model::wall_ns). Returns the number of samples.
Result<uint64_t> write_pprof(const Model&, const ExportQuery&, ByteSink&);
// The same.
ProfileSize write_sized_pprof(const Model&, const ExportQuery&, ByteSink&);

// A profile for each series.
struct SeriesProfile {
    std::string gzipped;
    ProfileSize size;
};
std::map<SeriesLabels, SeriesProfile> pprof_by_series(const Model&, const ExportQuery&);

} // namespace auger
