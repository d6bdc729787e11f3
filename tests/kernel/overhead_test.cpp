// SPDX-License-Identifier: GPL-3.0-or-later
// The share of a program's CPU time that goes into probes, as it is estimated, against the
// program's own count of what it gets done in a second of that time with and without them.
#include "loader/base/quantile.h"
#include "loader/kernel/features.h"
#include "loader/kernel/hit_costs.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/spec_table.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace auger::test {
namespace {

class OverheadTest : public KernelTest {
  protected:
    static const Overhead& last(Session& session) { return session.model().ledger().overhead; }
    // Until a span has gone by that began after now.
    static void see_span(Session& session) {
        const uint64_t now = session.backend().now_ns();
        ASSERT_TRUE(session.pump_until([&] { return last(session).begin_ns > now; }));
    }
    // Nanoseconds of CPU time that a call takes the program, meanwhile.
    static double ns_per_call(Session& session, Program& program) {
        program.signal(SIGUSR1);
        const auto before = program.account();
        see_span(session);
        program.signal(SIGUSR1);
        const auto after = program.account();
        return (after["cpu_ns"].get<double>() - before["cpu_ns"].get<double>()) /
               (after["calls"].get<double>() - before["calls"].get<double>());
    }
    static double share_of(Session& session, Overhead::Cause::Kind kind) {
        for (const Overhead::Cause& cause : last(session).causes)
            if (cause.kind == kind)
                return static_cast<double>(cause.cost_ns) /
                       static_cast<double>(last(session).target_ns);
        return 0;
    }
};

TEST_F(OverheadTest, OfProbesIsWhatTheProgramLoses) {
    // With this much work between calls, a probe at both ends of each takes about half of the time.
    Program program("hot_calls", {"--work", "2000"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const double plain = ns_per_call(session, program);
    must(session.backend().set_way_out(WayOut::ret));
    const ProbeId probe = session.time("hot");
    const double probed = ns_per_call(session, program);
    const double share = share_of(session, Overhead::Cause::Kind::probe);
    const double truth = 1 - plain / probed;
    // Of the estimate it is said that it may be off by a half.
    EXPECT_GT(share, 0.5 * truth);
    EXPECT_LT(share, 1.5 * truth);

    // Both ends of every call, and nothing else.
    const Overhead span = last(session);
    const Calls calls = session.calls(probe);
    EXPECT_GT(calls.returns, 0u);
    EXPECT_LE(span.causes.at(0).events, 2 * calls.entries + 1);

    must(session.backend().set_attached(probe, false));
    EXPECT_TRUE(session.calls(probe).add_up());
    const uint64_t entries = session.calls(probe).entries;
    const double off = ns_per_call(session, program);
    EXPECT_EQ(session.calls(probe).entries, entries);
    EXPECT_EQ(session.calls(probe).open, 0);
    EXPECT_EQ(share_of(session, Overhead::Cause::Kind::probe), 0);
    EXPECT_LT(off, (plain + probed) / 2);
    must(session.backend().set_attached(probe, true));
    EXPECT_TRUE(session.pump_until([&] { return session.calls(probe).entries > entries; }));
}

// Which of several exits a call takes makes a difference of 20 times.
TEST_F(OverheadTest, OfExitsIsThatOfThoseThatAreTaken) {
    for (const auto& [exit, work] :
         std::map<std::string, std::string>{{"early", "200"}, {"late", "2000"}}) {
        SCOPED_TRACE(exit);
        Program program("hot_calls", {"--exit", exit, "--work", work});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        const double plain = ns_per_call(session, program);
        must(session.backend().set_way_out(WayOut::cheap));
        session.time("leaves_half_after_a_call");
        ASSERT_THAT(session.report.places.at(0).kind, testing::HasSubstr("(1 of 2 cheap)"));
        const double probed = ns_per_call(session, program);
        const double share = share_of(session, Overhead::Cause::Kind::probe);
        const double truth = 1 - plain / probed;
        // As above.
        EXPECT_GT(share, 0.5 * truth);
        EXPECT_LT(share, 1.5 * truth);
    }
}

// Hits are paid at the price that they had: what was cheap does not become dear when the probes
// change.
TEST_F(OverheadTest, OfFormerProbesIsPaid) {
    Program program("hot_calls", {"--exit", "early", "--work", "2000"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::cheap));
    const ProbeId probe = session.time("leaves_half_after_a_call");
    // Each would cost some ten times as much with the other exit, together more than a second.
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).entries > 500'000; }));
    const uint64_t begun = session.backend().now_ns();
    CallConditions conditions;
    conditions.show = {"ret"};
    must(session.backend().set_slow(probe, {Threshold::Kind::fixed, 1'000'000'000, 0}, conditions));
    EXPECT_EQ(session.model().specs().back().way_out.text(), "ret");
    ASSERT_TRUE(session.pump_until([&] { return last(session).end_ns > begun; }));
    EXPECT_LT(share_of(session, Overhead::Cause::Kind::probe), 1.0);
}

// By a process of its own: the links of the measurement before may still be there, but not for it.
HitCosts measure_in_child(Programs& programs, const Features& features) {
    SpecTable specs(programs);
    int result[2];
    if (pipe(result) != 0)
        return {};
    const pid_t child = fork();
    if (child == 0) {
        const HitCosts costs =
            measure_hit_costs(programs, specs, features,
                              features.uprobe_multi ? AttachWay::multi : AttachWay::perf, nullptr);
        _exit(write(result[1], &costs, sizeof costs) == sizeof costs ? 0 : 1);
    }
    HitCosts costs;
    close(result[1]);
    const bool whole = read(result[0], &costs, sizeof costs) == sizeof costs;
    close(result[0]);
    waitpid(child, nullptr, 0);
    return whole ? costs : HitCosts();
}

// Neighbours make a hit dearer, and what is taken off. It may be off by half, as is documented, and
// is never for nothing: who hits emulated places a million times a second would never be noticed.
TEST_F(KernelTest, WhatAHitCostsIsKnownOnABusyMachine) {
    std::atomic<bool> enough = false;
    std::vector<std::jthread> neighbours;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); i++)
        neighbours.emplace_back([&] {
            while (!enough)
                ;
        });
    const Features features = Features::detect();
    const auto programs = must(Programs::load(
        {.uprobe_multi = features.uprobe_multi, .uprobe_session = features.uprobe_session}));
    for (const ProgramKind kind :
         {ProgramKind::call_entry, ProgramKind::call_exit,
          features.uprobe_session ? ProgramKind::call_session : ProgramKind::call_return})
        must(programs->program(kind)); // not in each child anew
    std::vector<double> emulated, stepped, passed;
    for (int round = 0; round < 15; round++) {
        const HitCosts costs = measure_in_child(*programs, features);
        EXPECT_TRUE(costs.measured);
        emulated.push_back(static_cast<double>(costs.emulated_ns));
        stepped.push_back(static_cast<double>(costs.stepped_ns));
        passed.push_back(static_cast<double>(costs.passed_jump_ns));
    }
    enough = true;
    for (const std::vector<double>& costs : {emulated, stepped, passed})
        EXPECT_GE(std::ranges::min(costs), median(costs) / 2) << testing::PrintToString(costs);
    EXPECT_LT(median(emulated), median(stepped));
}

} // namespace
} // namespace auger::test
