// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stats/clock_cost.h"

namespace auger {

double clock_cost(double mean, double cheap, double dear, double share) {
    const auto cost_at = [&](double x) {
        const double dear_ones = share * (x + cheap / 2), cheap_ones = (1 - share) * (x + dear / 2);
        const double ones = dear_ones + cheap_ones;
        return ones > 0 ? (dear_ones * dear + cheap_ones * cheap) / ones : 0;
    };
    // The more it executes at a time, the more of them are dear: x and the cost grow together.
    double low = 0, high = mean;
    for (int step = 0; step < 60; step++) {
        const double x = (low + high) / 2;
        (x + cost_at(x) < mean ? low : high) = x;
    }
    return mean - low;
}

} // namespace auger
