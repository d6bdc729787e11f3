// SPDX-License-Identifier: GPL-3.0-or-later
// The permutation test by calls against permutations: all of them, or many drawn by chance.
#include "views/model/permutation_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace auger {
namespace {

std::vector<CallsOfValue> counted(const std::vector<double>& first,
                                  const std::vector<double>& second) {
    std::map<double, CallsOfValue> by_value;
    for (double v : first)
        by_value[v].first++;
    for (double v : second)
        by_value[v].second++;
    std::vector<CallsOfValue> all;
    for (auto& [value, calls] : by_value)
        if (value > 0)
            all.push_back({value, calls.first, calls.second});
    return all;
}

double p_of(const std::vector<double>& first, const std::vector<double>& second) {
    return permutation_p(counted(first, second), first.size(), second.size());
}

// Twice the share of all choices of as many calls with at least as large a sum.
double by_all_choices(const std::vector<double>& first, const std::vector<double>& second) {
    std::vector<double> all = first;
    all.insert(all.end(), second.begin(), second.end());
    double sum = std::accumulate(first.begin(), first.end(), 0.0),
           whole = std::accumulate(all.begin(), all.end(), 0.0);
    auto chosen = static_cast<int>(first.size());
    if (sum * static_cast<double>(all.size()) < whole * static_cast<double>(first.size())) {
        sum = whole - sum;
        chosen = static_cast<int>(second.size());
    }
    double as_large = 0, choices = 0;
    for (uint32_t set = 0; set < 1u << all.size(); set++) {
        if (__builtin_popcount(set) != chosen)
            continue;
        double of_set = 0;
        for (size_t i = 0; i < all.size(); i++)
            of_set += set >> i & 1 ? all[i] : 0;
        choices++;
        as_large += of_set >= sum - 1e-9;
    }
    return std::min(1.0, 2 * as_large / choices);
}

TEST(PermutationTest, IsExactForFewCalls) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; round++) {
        std::vector<double> first(1 + random() % 7), second(1 + random() % 9);
        for (auto* side : {&first, &second})
            for (double& v : *side)
                v = random() % 3 ? 0 : 1 + random() % 6;
        EXPECT_NEAR(p_of(first, second), by_all_choices(first, second), 1e-6) << round;
    }
}

TEST(PermutationTest, IsFishersForPresence) {
    // 10 of 2,400 slow calls show it and none of 45,600 fast ones: 2 x (2,400 / 48,000)^10, nearly.
    const CallsOfValue seen{148e6, 10, 0};
    EXPECT_NEAR(std::log10(permutation_p({&seen, 1}, 2'400, 45'600)),
                std::log10(2 * std::pow(0.05, 10)), 0.05);
    // 3 of 3 against 0 of 97: one choice of C(100, 3).
    const CallsOfValue three{1, 3, 0};
    EXPECT_NEAR(permutation_p({&three, 1}, 3, 97), 2.0 / 161'700, 1e-9);
    // One call proves nothing, however long.
    const CallsOfValue one{1e12, 1, 0};
    EXPECT_NEAR(permutation_p({&one, 1}, 5, 95), 0.1, 1e-6);
    EXPECT_EQ(permutation_p({}, 5, 95), 1);
}

// Where ways are too many to be looked at, beside permutations drawn by chance. A share of p among
// N drawn ones has a standard error of sqrt(p (1 - p) / N); four of these, and 15 % for what the
// approximation may be off (it is a few per cent).
TEST(PermutationTest, ApproximatesManyCalls) {
    std::mt19937 random(11);
    constexpr int drawn = 20'000;
    int compared = 0;
    for (int round = 0; round < 24; round++) {
        const size_t n1 = 8 << round % 4, n2 = 300;
        std::vector<double> all(n1 + n2);
        for (double& v : all) // many have nothing, some have a lot
            v = random() % 2 ? 0 : std::exp2(static_cast<double>(random() % 40) / 8);
        const double shift = static_cast<double>(round % 6) / 2;
        for (size_t i = 0; i < n1; i++)
            if (random() % 3 == 0)
                all[i] += 5 * shift;
        const std::vector<double> first(all.begin(), all.begin() + static_cast<long>(n1)),
            second(all.begin() + static_cast<long>(n1), all.end());
        double sum = std::accumulate(first.begin(), first.end(), 0.0);
        const double whole = std::accumulate(all.begin(), all.end(), 0.0);
        const bool more = sum * static_cast<double>(n2) >= (whole - sum) * static_cast<double>(n1);
        int as_large = 0;
        std::vector<double> pool = all;
        for (int i = 0; i < drawn; i++) {
            double of_set = 0;
            for (size_t k = 0; k < n1; k++) {
                std::swap(pool[k], pool[k + random() % (pool.size() - k)]);
                of_set += pool[k];
            }
            as_large += more ? of_set >= sum - 1e-9 : of_set <= sum + 1e-9;
        }
        const double expected = static_cast<double>(as_large) / drawn;
        const double error = std::sqrt(expected * (1 - expected) / drawn);
        EXPECT_NEAR(p_of(first, second) / 2, expected, 4 * error + 0.15 * expected + 2.0 / drawn)
            << round;
        compared += expected > 0.001 && expected < 0.4;
    }
    EXPECT_GT(compared, 8);
}

// As many false alarms as asked for, or fewer, whatever the sums are like. Of 4,000 rounds a share
// of 5 % has a standard error of 0.34 points, one of 1 % of 0.16: three of these.
TEST(PermutationTest, RaisesNoMoreFalseAlarmsThanItSays) {
    for (size_t n1 : {3, 10, 200}) {
        std::mt19937 random(static_cast<unsigned>(n1));
        constexpr int rounds = 4'000;
        int at_5 = 0, at_1 = 0;
        for (int round = 0; round < rounds; round++) {
            std::vector<double> first(n1), second(400);
            for (auto* side : {&first, &second})
                for (double& v : *side) // a twentieth has something, with a heavy tail
                    v = random() % 20
                            ? 0
                            : std::floor(std::exp2(static_cast<double>(random() % 80) / 10));
            const double p = p_of(first, second);
            at_5 += p <= 0.05;
            at_1 += p <= 0.01;
        }
        EXPECT_LE(at_5, rounds * (0.05 + 3 * 0.0034)) << n1;
        EXPECT_LE(at_1, rounds * (0.01 + 3 * 0.0016)) << n1;
        if (n1 == 200) { // and no fewer by far, where calls are many
            EXPECT_GE(at_5, rounds * 0.03);
        }
    }
}

// No spread over the classes has a smaller p-value than the least.
TEST(PermutationTest, KnowsTheLeastItCanSay) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; round++) {
        const size_t n1 = 1 + random() % 5, n2 = 1 + random() % 6;
        std::vector<double> all(n1 + n2);
        for (double& v : all)
            v = random() % 2 ? 0 : 1 + random() % 3;
        double least = 1;
        for (int i = 0; i < 40; i++) {
            std::shuffle(all.begin(), all.end(), random);
            least = std::min(least, p_of({all.begin(), all.begin() + static_cast<long>(n1)},
                                         {all.begin() + static_cast<long>(n1), all.end()}));
        }
        const auto values = counted({}, all);
        EXPECT_LE(least_permutation_p(values, n1, n2), least + 1e-9) << round;
        std::sort(all.begin(), all.end());
        const double low = p_of({all.begin(), all.begin() + static_cast<long>(n1)},
                                {all.begin() + static_cast<long>(n1), all.end()}),
                     high = p_of({all.rbegin(), all.rbegin() + static_cast<long>(n1)},
                                 {all.rbegin() + static_cast<long>(n1), all.rend()});
        EXPECT_NEAR(least_permutation_p(values, n1, n2), std::min(low, high), 1e-9) << round;
    }
}

} // namespace
} // namespace auger
