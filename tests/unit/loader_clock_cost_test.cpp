// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stats/clock_cost.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

// Of a thread that executes for `x` at a time, until its clock has counted for long, `share` of
// that where it is dear: counted, not calculated.
double counted(double x, double cheap, double dear, double share, double& mean) {
    const double whole = 20'000 * (x + dear);
    double in_dear = 0, in_cheap = 0, cost = 0, times = 0;
    for (; in_dear < share * whole; times++, cost += dear)
        in_dear += x + dear / 2;
    for (; in_cheap < (1 - share) * whole; times++, cost += cheap)
        in_cheap += x + cheap / 2;
    mean = x + cost / times;
    return cost / times;
}

TEST(ClockCost, IsThatOfAThreadWhoseSwitchesAreCounted) {
    for (const double x : {500.0, 5'000.0, 1'000'000.0})
        for (const double share : {0.0, 0.1, 0.9, 1.0}) {
            double mean = 0;
            const double cost = counted(x, 600, 20'000, share, mean);
            // To within the last one of either kind: of 2,000 at least.
            EXPECT_NEAR(clock_cost(mean, 600, 20'000, share), cost, cost / 2'000)
                << x << ' ' << share;
        }
}

TEST(ClockCost, IsNoMoreThanAllThatAThreadRuns) {
    EXPECT_DOUBLE_EQ(clock_cost(300, 600, 20'000, 0.5), 300);
    EXPECT_NEAR(clock_cost(1'000, 0, 0, 0.5), 0, 1e-9);
    EXPECT_NEAR(clock_cost(1e12, 600, 20'000, 0.5), 10'300, 0.1);
    EXPECT_NEAR(clock_cost(5'000, 600, 600, 0.5), 600, 1e-9);
}

} // namespace
} // namespace auger
