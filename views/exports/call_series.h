// SPDX-License-Identifier: GPL-3.0-or-later
// Calls as stores of metrics keep them: series of a bounded number, whose histograms have the same
// bounds on every host, so that they can be added.
#pragma once

#include "views/model/model.h"
#include "views/tail.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// Of one function of a probe; or of all beyond the first `most_function_series`, together.
struct CallSeries {
    std::string probe, function; // escaped
    CallStatistics calls;        // since the probe began
    Tail tail;                   // whether their durations hold it
    bool counted = false;        // places, which have no durations
};

// Of a probe. The first that were timed, so that a series never goes into another one.
inline constexpr size_t most_function_series = 64;
inline constexpr const char* other_functions = "(others)";
// Columns of a label: of longer names the middle is left out, and the counts of names that then are
// equal are added.
inline constexpr size_t most_label_columns = 200;

std::vector<CallSeries> call_series(const Model&);
// As labels have it.
std::string series_label(std::string_view raw);

// 2^k and 1.5 * 2^k ns, from 1 us to 103 s: bounds of auger's own buckets, so that what is counted
// below each is exact. Durations are whole nanoseconds, rounded down, so one that reads as a bound
// is beyond it.
inline constexpr std::array<uint64_t, 54> series_bounds_ns = [] {
    std::array<uint64_t, 54> bounds{};
    for (size_t i = 0; i < bounds.size(); i++)
        bounds[i] = (i % 2 ? uint64_t{3} << 9 : uint64_t{1} << 10) << (i / 2);
    return bounds;
}();

// How many durations are below each of series_bounds_ns; total() is what is below infinity.
std::array<double, series_bounds_ns.size()> counts_below(const WeightedHistogram&);

} // namespace auger
