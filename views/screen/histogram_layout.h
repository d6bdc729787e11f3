// SPDX-License-Identifier: GPL-3.0-or-later
// Where the bars of a histogram stand: durations from left to right, a bar of some columns for each
// row of buckets. Bounds are rounded to three digits, so that a threshold moved to one reads well.
#pragma once

#include "views/model/duration_gaps.h"
#include "views/text/histogram_rows.h"

#include <cstddef>
#include <optional>

namespace auger {

struct HistogramLayout {
    std::vector<HistogramRow> bars; // ascending
    size_t columns = 1;             // of each bar
    double most = 0;                // the highest bar's calls

    size_t width() const { return bars.size() * columns; }
    // The bar that holds the bucket; the nearest one when none does. There must be a bar.
    size_t bar_of(uint32_t bucket) const;
    std::optional<size_t> bar_at(size_t column) const;
    bool within(uint32_t bucket) const {
        return !bars.empty() && bucket >= bars.front().first && bucket < bars.back().end;
    }
};

HistogramLayout lay_out_histogram(const WeightedHistogram&, size_t width);

// The next bound between bars above (below) a threshold.
std::optional<uint64_t> next_bound(const HistogramLayout&, uint64_t threshold_ns, bool up);

} // namespace auger
