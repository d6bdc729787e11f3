// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of signed numbers that a recording or an agent tells, which may be any.
#pragma once

#include <cstdint>
#include <limits>

namespace auger {

// a + b, or the number nearest to it that there is.
inline int64_t saturating_sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    return sum;
}

} // namespace auger
