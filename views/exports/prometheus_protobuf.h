// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics as delimited messages of Prometheus' io.prometheus.client.MetricFamily, in which
// histograms are native as well as classic:
// https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto
#pragma once

#include "views/exports/export.h"

namespace auger {

// As scrapers name it in `Accept`.
inline constexpr const char* prometheus_protobuf_type =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

// Buckets of native histograms: eight for each power of two seconds, so that one is 9 % wider than
// the one before. Each of auger's own, which are at most 1.6 % wide, is counted where its middle
// lies: a duration may be counted in the next one if it is less than 1 % away from it.
inline constexpr int native_schema = 3;
inline constexpr int native_buckets_an_octave = 1 << native_schema;

// Returns the number of values and histograms.
Result<uint64_t> write_prometheus_protobuf(const Model&, const ExportQuery&, ByteSink&);

} // namespace auger
