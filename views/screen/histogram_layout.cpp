// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/histogram_layout.h"

#include <algorithm>

namespace auger {

namespace {
// Wider bars say no more.
constexpr size_t widest = 8;
} // namespace

size_t HistogramLayout::bar_of(uint32_t bucket) const {
    size_t bar = 0;
    while (bar + 1 < bars.size() && bars[bar].end <= bucket)
        bar++;
    return bar;
}

std::optional<size_t> HistogramLayout::bar_at(size_t column) const {
    return column < width() ? std::optional(column / columns) : std::nullopt;
}

HistogramLayout lay_out_histogram(const WeightedHistogram& histogram, size_t width) {
    HistogramLayout layout;
    width = std::max<size_t>(width, 1);
    layout.bars = histogram_rows(histogram, static_cast<uint32_t>(std::min<size_t>(width, 10'000)));
    if (!layout.bars.empty())
        layout.columns = std::clamp<size_t>(width / layout.bars.size(), 1, widest);
    for (const HistogramRow& bar : layout.bars)
        layout.most = std::max(layout.most, bar.count);
    return layout;
}

std::optional<uint64_t> next_bound(const HistogramLayout& layout, uint64_t threshold_ns, bool up) {
    std::optional<uint64_t> below;
    for (const HistogramRow& bar : layout.bars) {
        const uint64_t bound = round_duration(bucket_low(bar.first));
        if (bound == 0)
            continue; // every call is longer
        if (up && bound > threshold_ns)
            return bound;
        if (bound < threshold_ns)
            below = bound;
    }
    return up ? std::nullopt : below;
}

} // namespace auger
