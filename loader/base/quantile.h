// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace auger {

// The value that so large a share of them lies below, 0 to 1; of none there is none.
inline double quantile(std::vector<double> values, double share) {
    const auto below = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    const auto last = static_cast<std::ptrdiff_t>(values.size()) - 1;
    const auto found = values.begin() + std::min(below, last);
    std::ranges::nth_element(values, found);
    return *found;
}

// The upper one of an even number.
inline double median(std::vector<double> values) {
    return quantile(std::move(values), 0.5);
}

} // namespace auger
