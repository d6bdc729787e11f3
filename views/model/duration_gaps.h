// SPDX-License-Identifier: GPL-3.0-or-later
// Where durations of calls part: between two heaps of them, in a gap or in the valley. A threshold
// there tells one kind of call from another, which a percentile hardly ever does.
#pragma once

#include "loader/stats/histogram.h"

#include <optional>
#include <vector>

namespace auger {

// A duration with three significant digits.
uint64_t round_duration(uint64_t ns);

// Ascending; in ns, rounded. A heap is at least seven calls that chance does not make stand out.
std::vector<uint64_t> duration_gaps(const WeightedHistogram&);
// The next one above (below) a threshold.
std::optional<uint64_t> next_duration_gap(const WeightedHistogram&, uint64_t threshold_ns, bool up);

} // namespace auger
