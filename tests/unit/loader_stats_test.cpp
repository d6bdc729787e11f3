// SPDX-License-Identifier: GPL-3.0-or-later
// Percentiles against exact ones, decay against its definition, thresholds against their rules.
#include "bpf/wire.h"
#include "loader/stats/decayed_histogram.h"
#include "loader/stats/histogram.h"
#include "loader/stats/threshold_follower.h"
#include "tests/unit/synthetic_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace auger {
namespace {

using Random = std::mt19937_64;

TEST(Histogram, BucketBoundsAgreeWithTheContract) {
    for (uint32_t i = 0; i + 1 < WIRE_HIST_BUCKETS; i++) {
        ASSERT_EQ(wire_histogram_bucket(bucket_low(i)), i);
        ASSERT_EQ(wire_histogram_bucket(bucket_high(i) - 1), i);
        ASSERT_EQ(bucket_high(i), bucket_low(i + 1));
    }
    EXPECT_EQ(wire_histogram_bucket(bucket_low(WIRE_HIST_BUCKETS - 1)), WIRE_HIST_BUCKETS - 1);
    EXPECT_EQ(wire_histogram_bucket(UINT64_MAX), WIRE_HIST_BUCKETS - 1);
}

struct Distribution {
    const char* name;
    std::function<double(Random&)> draw;
};

TEST(Histogram, QuantilesAreWithinOnePercentOfExactOnes) {
    const Distribution distributions[] = {
        {"constant", [](Random&) { return 1048575.0; }},
        {"two values", [](Random& r) { return r() % 20 ? 65535.0 : 131071.0; }},
        {"uniform", [](Random& r) { return std::uniform_real_distribution(1e3, 1e6)(r); }},
        {"exponential", [](Random& r) { return std::exponential_distribution(1e-5)(r); }},
        {"lognormal", [](Random& r) { return std::lognormal_distribution(12.0, 2.0)(r); }},
        {"pareto",
         [](Random& r) { return 1e3 / std::pow(1 - std::generate_canonical<double, 53>(r), 1.1); }},
        {"tiny", [](Random& r) { return std::uniform_real_distribution(0.0, 130.0)(r); }},
        {"bimodal",
         [](Random& r) { return std::normal_distribution(r() % 100 < 3 ? 5e6 : 2e5, 1e4)(r); }},
    };
    for (const Distribution& distribution : distributions)
        for (size_t n : {1, 2, 20, 1000, 50000}) {
            Random random(n);
            Histogram histogram;
            std::vector<uint64_t> exact;
            for (size_t i = 0; i < n; i++) {
                auto value =
                    static_cast<uint64_t>(std::clamp(distribution.draw(random), 0.0, 1e12));
                histogram.add(value);
                exact.push_back(value);
            }
            std::sort(exact.begin(), exact.end());
            for (double q : {0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
                auto rank = static_cast<size_t>(std::max(1.0, std::ceil(q * double(n) - 1e-6)));
                auto truth = static_cast<double>(exact[rank - 1]);
                EXPECT_LE(std::abs(histogram.quantile(q) - truth), truth * 0.01 + 1e-9)
                    << distribution.name << " n=" << n << " q=" << q << " exact " << truth;
            }
        }
}

TEST(Histogram, MergeAndSubtractAreInverse) {
    Random random(1);
    Histogram a, b, both;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = random() >> (random() % 64);
        (i % 2 ? a : b).add(value);
        both.add(value);
    }
    Histogram sum = a;
    sum.merge(b);
    for (uint32_t i = 0; i < WIRE_HIST_BUCKETS; i++)
        ASSERT_EQ(sum.count(i), both.count(i));
    sum.subtract(b);
    EXPECT_EQ(sum.total(), a.total());
    for (uint32_t i = 0; i < WIRE_HIST_BUCKETS; i++)
        ASSERT_EQ(sum.count(i), a.count(i));
}

TEST(Histogram, CountAboveIsExactAtBucketBounds) {
    Histogram histogram;
    for (uint64_t ns : {10u, 20u, 30u, 5000u, 6000u})
        histogram.add(ns);
    EXPECT_DOUBLE_EQ(histogram.count_above(20), 3);
    EXPECT_DOUBLE_EQ(histogram.count_above(19), 4);
    EXPECT_DOUBLE_EQ(histogram.count_above(5500), 1);
    EXPECT_DOUBLE_EQ(histogram.count_above(UINT64_MAX), 0);
}

TEST(Histogram, TakesWhatADamagedRecordingHolds) {
    Histogram histogram;
    histogram.add_bucket(UINT32_MAX, 3);
    EXPECT_EQ(histogram.count(WIRE_HIST_BUCKETS - 1), 3u);
    EXPECT_DOUBLE_EQ(histogram.quantile(0.5), std::pow(2.0, 40));
}

TEST(DecayedHistogram, FadesByTimeNotByStep) {
    constexpr uint64_t second = 1'000'000'000;
    DecayedHistogram coarse(10), fine(10);
    // 100 calls at t=0, seen at once or after thousands of looks in between, over many tau.
    coarse.add(0, 1000, 100);
    fine.add(0, 1000, 100);
    for (uint64_t t = 0; t < 900 * second; t += second / 10)
        fine.add_bucket(t, 0, 0);
    EXPECT_NEAR(coarse.weight(10 * second), 100 * std::exp(-1), 1e-9);
    EXPECT_NEAR(fine.weight(900 * second) / coarse.weight(900 * second), 1, 1e-9);
}

TEST(DecayedHistogram, WeighsCallsByAge) {
    constexpr uint64_t second = 1'000'000'000;
    DecayedHistogram histogram(10);
    histogram.add(0, 1000, 100);
    histogram.add(30 * second, 2000, 10); // 100 old calls weigh 100 e^-3 = 5.0 beside these
    EXPECT_NEAR(histogram.weight(30 * second), 10 + 100 * std::exp(-3), 1e-9);
    EXPECT_NEAR(histogram.quantile(0.3), 1000, 10);
    EXPECT_NEAR(histogram.quantile(0.4), 2000, 20);
}

StatsEvent calls_of(uint64_t time_ns, uint64_t duration_ns, uint64_t count) {
    StatsEvent event;
    event.time_ns = time_ns;
    event.returns = count;
    event.buckets = {{wire_histogram_bucket(duration_ns), count}};
    return event;
}

TEST(ThresholdFollower, WarmsUpBeforeItHasAValue) {
    for (auto [percentile, needed] : {std::pair{95.0, 100u}, {99.0, 500u}, {50.0, 10u}}) {
        ThresholdFollower follower(SyntheticStream::percentile(percentile));
        EXPECT_FALSE(follower.on_stats(calls_of(1, 1000, needed - 1)));
        EXPECT_EQ(follower.state().kind, ThresholdState::Kind::warming);
        EXPECT_EQ(follower.state().calls, needed - 1);
        EXPECT_EQ(follower.state().calls_needed, needed);
        EXPECT_TRUE(follower.on_stats(calls_of(2, 1000, 1)));
        EXPECT_EQ(follower.state().kind, ThresholdState::Kind::following);
        EXPECT_NEAR(double(follower.state().value_ns), 1000, 10);
    }
}

TEST(ThresholdFollower, FollowsTheLoadAndIgnoresTrifles) {
    constexpr uint64_t second = 1'000'000'000;
    ThresholdFollower follower(SyntheticStream::percentile(50));
    follower.on_stats(calls_of(0, 100'000, 1000));
    EXPECT_FALSE(follower.on_stats(calls_of(second, 100'500, 1000))); // within 1 %
    EXPECT_TRUE(follower.on_stats(calls_of(120 * second, 200'000, 1000)));
    EXPECT_NEAR(double(follower.state().value_ns), 200'000, 2'000);
}

TEST(ThresholdFollower, EditKeepsWhatWasLearned) {
    ThresholdFollower follower(SyntheticStream::percentile(95));
    StatsEvent event = calls_of(1, 1000, 980);
    event.buckets.push_back({wire_histogram_bucket(50'000), 20});
    follower.on_stats(event);
    EXPECT_NEAR(double(follower.state().value_ns), 1000, 10);
    follower.set_threshold(SyntheticStream::percentile(99));
    EXPECT_EQ(follower.state().kind, ThresholdState::Kind::following);
    EXPECT_NEAR(double(follower.state().value_ns), 50'000, 500);
    follower.set_threshold(SyntheticStream::fixed(7));
    EXPECT_EQ(follower.state().value_ns, 7u);
}

} // namespace
} // namespace auger
