// SPDX-License-Identifier: GPL-3.0-or-later
// EventRate: ten times within a second, in whatever order they are told.
#include "loader/kernel/event_rate.h"
#include "tests/support/durations.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(EventRate, IsOftenFromTheTenthWithinASecondOn) {
    EventRate rate;
    for (uint64_t i = 1; i <= 10; i++) {
        EXPECT_FALSE(rate.often(i * 100 * ms));
        rate.add(i * 100 * ms);
    }
    EXPECT_TRUE(rate.often(1'000 * ms));
    EXPECT_TRUE(rate.often(1'099 * ms));
    EXPECT_FALSE(rate.often(1'100 * ms));
}

// Those of threads are heard of before those of processes that were earlier.
TEST(EventRate, TakesWhatIsToldLate) {
    EventRate rate;
    for (uint64_t i = 0; i < 10; i++)
        rate.add((5'000 + i) * ms);
    EXPECT_TRUE(rate.often(4'990 * ms));
}

} // namespace
} // namespace auger
