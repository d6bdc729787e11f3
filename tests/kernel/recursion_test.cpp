// SPDX-License-Identifier: GPL-3.0-or-later
// Recursion: each exit belongs to the innermost open call, and what nests too deep is in the
// ledger.
#include "bpf/wire.h"
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

namespace auger::test {
namespace {

class Recursion : public WaysTest<std::tuple<LiveOptions::Attach, WayOut>> {};

TEST_P(Recursion, EveryCallIsCountedAndNoneIsTooShort) {
    const auto& [attach, way_out] = GetParam();
    Program program("recursion", {"--threads", "3", "--depth", "4", "--calls", "50", "--pause-us",
                                  "0", "--wait"});
    program.wait_ready();
    Session session({attach});
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    ProbeId probe = session.time("descend");
    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);

    Calls calls = session.calls(probe);
    EXPECT_EQ(calls.entries, 3u * 4 * 50);
    EXPECT_EQ(calls.returns, calls.entries);
    CallStatistics statistics = session.model().probe_statistics(probe);
    auto sleep_ns = account["sleep_ns"].get<uint64_t>();
    // Entry and exit probe stand inside of what the caller measures, and outside of the sleep.
    uint64_t longest = 0, sum_below = 0;
    for (const auto& level : account["levels"]) {
        longest = std::max(longest, level["max_ns"].get<uint64_t>());
        sum_below += level["level"].get<uint64_t>() * sleep_ns * level["calls"].get<uint64_t>();
    }
    EXPECT_GE(statistics.min_ns, sleep_ns);
    EXPECT_LE(statistics.max_ns, longest);
    EXPECT_GE(statistics.sum_ns, static_cast<double>(sum_below));
    // Of the calls of each level, none is shorter than its sleeps: level L has 4 - L + 1 above it.
    for (uint64_t level = 1; level <= 4; level++) {
        double shorter = statistics.durations.total() -
                         statistics.durations.count_above(level * sleep_ns * 99 / 100);
        EXPECT_LE(shorter, 3.0 * 50 * static_cast<double>(level - 1) + 0.5) << level;
    }
}

TEST_P(Recursion, TooDeepIsDroppedAndSaidSo) {
    const auto& [attach, way_out] = GetParam();
    Program program("recursion", {"--threads", "2", "--depth", "200", "--calls", "5", "--sleep-us",
                                  "0", "--pause-us", "0", "--wait"});
    program.wait_ready();
    Session session({attach});
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    ProbeId probe = session.time("descend");
    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(account["ok"].get<bool>()) << account;

    Calls calls = session.calls(probe);
    EXPECT_EQ(calls.entries, 2u * 5 * 200);
    EXPECT_EQ(calls.returns, 2u * 5 * WIRE_MAX_OPEN_CALLS);
    EXPECT_EQ(calls.dropped, 2u * 5 * (200 - WIRE_MAX_OPEN_CALLS));
    EXPECT_EQ(calls.unwound, 0u);
    EXPECT_EQ(calls.open, 0);
    EXPECT_EQ(session.lost("calls: nested deeper than 32"), calls.dropped);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Recursion,
    testing::Combine(testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                     testing::Values(WayOut::cheap, WayOut::ret, WayOut::trampoline)),
    ways_name);

} // namespace
} // namespace auger::test
