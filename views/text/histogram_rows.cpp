// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/histogram_rows.h"

namespace auger {

std::vector<HistogramRow> histogram_rows(const WeightedHistogram& histogram, uint32_t most) {
    uint32_t first = 0, end = histogram.end_bucket();
    while (first < end && histogram.count(first) <= 0)
        first++;
    while (end > first && histogram.count(end - 1) <= 0)
        end--;
    if (first == end)
        return {};
    uint32_t size = 1;
    while ((end - 1) / size - first / size + 1 > most)
        size *= 2;
    std::vector<HistogramRow> rows;
    for (uint32_t begin = first / size * size; begin < end; begin += size) {
        HistogramRow row{begin, begin + size, 0};
        for (uint32_t i = row.first; i < row.end; i++)
            row.count += histogram.count(i);
        rows.push_back(row);
    }
    return rows;
}

} // namespace auger
