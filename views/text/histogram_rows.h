// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram in as many rows (or columns) as there is room for.
#pragma once

#include "loader/stats/histogram.h"

#include <vector>

namespace auger {

struct HistogramRow {
    uint32_t first = 0, end = 0; // buckets
    double count = 0;
};

// At most `most` (> 0) rows of 2^k buckets each, aligned, so that an octave is cut evenly whatever
// k is; from the first bucket that holds something to the last.
std::vector<HistogramRow> histogram_rows(const WeightedHistogram&, uint32_t most);

} // namespace auger
