// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/durations.h"
#include "views/model/duration_gaps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace auger {
namespace {

// Calls around `middle`, log-normal.
void add_calls(WeightedHistogram& durations, std::mt19937& random, int calls, double middle,
               double spread = 0.2) {
    std::normal_distribution<> normal;
    for (int i = 0; i < calls; i++)
        durations.add(static_cast<uint64_t>(middle * std::exp(spread * normal(random))));
}

TEST(DurationGaps, AreBetweenHeaps) {
    std::mt19937 random(1);
    WeightedHistogram durations;
    add_calls(durations, random, 100'000, 5 * us);
    add_calls(durations, random, 300, 1 * ms);
    add_calls(durations, random, 10, 148 * ms, 0.05); // ten are a heap
    const auto gaps = duration_gaps(durations);
    ASSERT_EQ(gaps.size(), 2u);
    EXPECT_GT(gaps[0], 15 * us); // beyond all of the first heap's 100,000 calls: 4.4 sigma
    EXPECT_LT(gaps[0], 500 * us);
    EXPECT_GT(gaps[1], 2 * ms);
    EXPECT_LT(gaps[1], 120 * ms);
    EXPECT_EQ(next_duration_gap(durations, 7 * us, true), gaps[0]);
    EXPECT_EQ(next_duration_gap(durations, gaps[0], true), gaps[1]);
    EXPECT_EQ(next_duration_gap(durations, gaps[1], true), std::nullopt);
    EXPECT_EQ(next_duration_gap(durations, gaps[1], false), gaps[0]);
    EXPECT_EQ(next_duration_gap(durations, gaps[0], false), std::nullopt);
}

TEST(DurationGaps, AreInValleysThatAreNotEmpty) {
    std::mt19937 random(2);
    WeightedHistogram durations;
    add_calls(durations, random, 20'000, 100 * us, 0.5);
    add_calls(durations, random, 5'000, 1 * ms, 0.4);
    const auto gaps = duration_gaps(durations);
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_GT(gaps[0], 200 * us);
    EXPECT_LT(gaps[0], 800 * us);
}

// One kind of call, however its durations are spread: nothing parts, whatever chance does to the
// few that are longest. Of 300 tails three may look like a heap.
TEST(DurationGaps, AreNoneInOneHeap) {
    int with_gaps = 0;
    for (unsigned seed = 0; seed < 300; seed++) {
        std::mt19937 random(seed);
        WeightedHistogram durations;
        add_calls(durations, random, 30 << seed % 10, 200 * us, 0.1 + 0.1 * (seed % 12));
        with_gaps += !duration_gaps(durations).empty();
    }
    EXPECT_LE(with_gaps, 3);
    EXPECT_TRUE(duration_gaps({}).empty());
}

} // namespace
} // namespace auger
