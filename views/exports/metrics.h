// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of a session for stores, whatever form they are written in: histograms, percentiles and
// counts of every probe, samples by class, and everything lost, by cause.
#pragma once

#include "views/exports/export.h"
#include "views/model/model.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {

enum class MetricType { counter, gauge, histogram };

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>; // values escaped

// A form. Metrics come one after the other, each with all of its values or histograms.
class MetricsWriter {
  public:
    virtual ~MetricsWriter() = default;
    virtual void begin(std::string_view name, MetricType, std::string_view help) = 0;
    virtual void value(const MetricLabels&, double) = 0;
    virtual void histogram(const MetricLabels&, const CallStatistics&) = 0; // in seconds
};

// Of the query: percentiles are of its window, counts since each probe began.
void write_metrics(const Model&, const ExportQuery&, MetricsWriter&);

} // namespace auger
