// SPDX-License-Identifier: GPL-3.0-or-later
// What several machines have in common: the sum of their accounts, whoever counts anew or makes
// causes up.
#include "loader/recording/format.h"
#include "loader/recording/machine_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

namespace auger {
namespace {

LedgerEvent account(uint64_t samples, uint64_t lost) {
    LedgerEvent ledger;
    ledger.time_ns = samples;
    ledger.ticks = ledger.samples = samples;
    ledger.rate_hz = samples;
    ledger.lost["a"] = lost;
    ledger.lost["never"] = 0;
    return ledger;
}

TEST(CommonAccount, IsTheSumOfTheLast) {
    CommonStream common(3);
    std::array<LedgerEvent, 3> last;
    for (uint64_t i = 1; i < 50; i++) {
        const size_t session = i * 7 % 3;
        last[session] = account(100 * i, i);
        const LedgerEvent sum = common.merged(session, last[session]);
        uint64_t samples = 0, lost = 0;
        for (const LedgerEvent& one : last) {
            samples += one.samples;
            lost += one.lost.contains("a") ? one.lost.at("a") : 0;
        }
        EXPECT_EQ(sum.samples, samples);
        EXPECT_EQ(sum.ticks, samples);
        EXPECT_EQ(sum.lost.at("a"), lost);
        EXPECT_EQ(sum.lost.at("never"), 0u);
        EXPECT_EQ(sum.rate_hz, std::max({last[0].rate_hz, last[1].rate_hz, last[2].rate_hz}));
    }
}

TEST(CommonAccount, KeepsWhatAFormerAgentCounted) {
    CommonStream common(2);
    (void)common.merged(0, account(100, 1));
    (void)common.merged(1, account(1000, 10));
    common.begin_anew(0);
    const LedgerEvent sum = common.merged(0, account(5, 0));
    EXPECT_EQ(sum.samples, 1105u);
    EXPECT_EQ(sum.lost.at("a"), 11u);
    EXPECT_EQ(sum.rate_hz, 1000u) << "of those that sample now";
    common.begin_pass();
    EXPECT_EQ(common.merged(0, account(5, 0)).samples, 5u);
}

TEST(CommonAccount, IsNotFilledByCausesThatAreMadeUp) {
    CommonStream common(2);
    (void)common.merged(1, account(1000, 10));
    LedgerEvent sum;
    for (size_t round = 0; round < 100; round++) {
        LedgerEvent made_up = account(1, 0);
        for (size_t i = 0; i < recording::max_causes; i++)
            made_up.lost[fmt::format("{} {}", round, i)] = 1;
        sum = common.merged(0, made_up);
    }
    const auto all_lost = [&] {
        uint64_t events = 0;
        for (const auto& [cause, of_it] : sum.lost)
            events += of_it;
        return events;
    };
    EXPECT_LE(sum.lost.size(), recording::max_causes);
    EXPECT_EQ(sum.lost.at("a"), 10u);
    EXPECT_EQ(all_lost(), 10 + recording::max_causes) << "none is left out";
    // Nor by agents that come and go; and what others look for is told apart.
    for (size_t agent = 0; agent < 5; agent++) {
        common.begin_anew(0);
        LedgerEvent made_up = account(1, 0);
        for (size_t i = 0; i < recording::max_causes; i++)
            made_up.lost[fmt::format("agent {} {}", agent, i)] = 1;
        made_up.lost[lost_samples] = 3;
        sum = common.merged(0, made_up);
    }
    EXPECT_LE(sum.lost.size(), recording::max_causes);
    EXPECT_EQ(sum.lost.at(lost_samples), 15u);
    EXPECT_EQ(all_lost(), 10 + 6 * recording::max_causes + 15);
    // Sums that wrapped are themselves again.
    LedgerEvent enormous = account(UINT64_MAX, UINT64_MAX);
    (void)common.merged(0, enormous);
    sum = common.merged(0, account(1, 1));
    EXPECT_EQ(sum.samples, 1006u);
    EXPECT_EQ(sum.lost.at("a"), 11u);
}

} // namespace
} // namespace auger
