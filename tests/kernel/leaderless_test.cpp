// SPDX-License-Identifier: GPL-3.0-or-later
// Processes whose first thread has ended while others run: before anybody looked, or while they are
// observed. They are timed and sampled as any other.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/wait.h"

#include "loader/process/proc_info.h"

#include <algorithm>

namespace auger::test {
namespace {

class Leaderless : public KernelTest, public testing::WithParamInterface<bool> {};

TEST_P(Leaderless, IsObservedAsAnyOther) {
    const bool later = GetParam();
    std::vector<std::string> arguments = {"--wait"};
    if (later)
        arguments.push_back("--later");
    Program program("leaderless", arguments);
    program.wait_ready();
    auto leader_has_ended = [&] {
        auto stat = read_stat(program.pid());
        return stat && stat->state == 'Z';
    };
    if (!later) {
        ASSERT_TRUE(wait_until(leader_has_ended));
    }
    Session session;
    session.observe(program.pid());
    const ProbeId outer = session.time("outer");
    EXPECT_FALSE(session.report.pending);
    const ProbeId naps = session.time("libc:clock_nanosleep");
    session.sample(999);
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(outer).returns >= 20; }));
    EXPECT_TRUE(leader_has_ended());
    session.pump_to_end();
    const nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    const auto calls = truth["calls"].get<uint64_t>();
    EXPECT_EQ(calls, 100u);
    EXPECT_EQ(session.calls(outer).entries, calls);
    EXPECT_EQ(session.calls(outer).returns, calls);
    EXPECT_EQ(session.calls(naps).returns, truth["naps"].get<uint64_t>());

    // It worked for 0.5 s by its own CPU clock: 500 samples, give or take 5 of their spread of 22
    // at most (a clock's ticks spread far less).
    session.backend().settle_symbols(std::chrono::seconds(30));
    uint64_t seen = 0;
    for (const SampleEvent& sample : session.log.samples) {
        const auto names = session.stack_names(sample.stack);
        auto at = std::ranges::find(names, "worker");
        if (at == names.end())
            continue;
        seen++;
        std::string chain;
        for (; at != names.end() && !at->starts_with("start_thread"); ++at)
            chain += *at + ";";
        EXPECT_EQ(chain, "worker;middle;outer;life;");
    }
    EXPECT_GT(seen, 390u);
    EXPECT_LT(seen, 610u);
    session.expect_samples_add_up();
}

INSTANTIATE_TEST_SUITE_P(Moments, Leaderless, testing::Values(false, true), [](const auto& info) {
    return info.param ? "LeavesWhileObserved" : "HadLeftBefore";
});

} // namespace
} // namespace auger::test
