// SPDX-License-Identifier: GPL-3.0-or-later
// Branches and labels of a split, against what the program knows of each of its calls.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <map>
#include <sched.h>
#include <thread>

namespace auger::test {
namespace {

using testing::HasSubstr;

SplitInfo split_at(ProbeId probe, const std::string& line) {
    SplitInfo split{true, probe, {}, false};
    split.branch = Branch::at_line(line);
    return split;
}

class Marks : public WaysTest<LiveOptions::Attach> {};

TEST_P(Marks, EachCallIsKnownToHaveTakenTheBranchOrNot) {
    Program program("drilldown", {"--calls", "60", "--wait"}); // within the rate of slow calls
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    // Every call's end is told when it is slow; all are.
    must(session.backend().set_slow(handle, {Threshold::Kind::fixed, 1, 0}));
    must(session.backend().set_split(
        split_at(handle, marked_line("drilldown.c", "BRANCH metered"))));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    const uint64_t taken = account["branch_taken"], handled = account["handled"];
    EXPECT_EQ(session.calls(handle).returns, handled);
    const StreamLog::Marked counted = session.log.marked[session.log.split.branch_bit];
    EXPECT_EQ(counted.taken, taken);
    EXPECT_EQ(counted.not_taken, handled - taken);
    uint64_t traced_taken = 0;
    for (const StreamLog::SlowCall& call : session.log.slow_calls)
        traced_taken += call.end.marks >> session.log.split.branch_bit & 1;
    EXPECT_EQ(session.log.slow_calls.size(), handled);
    EXPECT_EQ(traced_taken, taken);
}

INSTANTIATE_TEST_SUITE_P(Ways, Marks,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return std::string(info.param == LiveOptions::Attach::multi ? "multi"
                                                                                         : "perf");
                         });

class Branch : public KernelTest {};

// Each edit begins a count of its own, and none disturbs the calls' own counts.
TEST_F(Branch, EditsWhileCallsRunLoseNothing) {
    Program program("drilldown", {"--pause-us", "200", "--wait"}); // until it is told to end
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    const std::string line = marked_line("drilldown.c", "BRANCH metered");
    program.go();
    for (int i = 0; i < 20; i++) {
        must(session.backend().set_split(split_at(handle, line)));
        const uint64_t before = session.calls(handle).returns;
        ASSERT_TRUE(
            session.pump_until([&] { return session.calls(handle).returns > before + 30; }));
        must(session.backend().set_split({}));
    }
    program.signal(SIGTERM);
    session.pump_to_end();
    const nlohmann::json account = program.account();
    const Calls calls = session.calls(handle);
    EXPECT_EQ(calls.returns, account["handled"].get<uint64_t>());
    EXPECT_TRUE(calls.add_up());
    uint64_t taken = 0, not_taken = 0;
    for (const auto& [bit, counted] : session.log.marked) {
        taken += counted.taken;
        not_taken += counted.not_taken;
    }
    EXPECT_LE(taken + not_taken, calls.returns);
    // Every third request is metered: each worker's own numbers go round by three.
    EXPECT_GT(taken, 50u);
    EXPECT_GT(not_taken, taken);
}

// A call that is counted as returned is known in full: in every reading, its duration is in the
// histogram and its mark among the marks. The last reading of a program that has ended would lack
// them for good. On one CPU the reader interrupts the program wherever the kernel lets it: within
// the kernel's programs too where preemption is full, as in tests/qemu, where with the counts in
// another order 30 of 1,000 readings lacked something.
TEST_F(Branch, WhatHasReturnedIsInTheHistogramAndAmongTheMarks) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    Program program("hot_calls", {"--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId hot = session.time("hot");
    must(session.backend().set_split(split_at(hot, marked_line("hot_calls.c", "BODY hot"))));
    program.go();
    while (session.log.stats.size() < 1000) {
        must(session.backend().refresh());
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    uint64_t returns = 0, durations = 0, marks = 0, incomplete = 0;
    for (const StatsEvent& event : session.log.stats) {
        returns += event.returns;
        for (const StatsEvent::Bucket& bucket : event.buckets)
            durations += bucket.count;
        for (const StatsEvent::MarkCount& mark : event.marked)
            marks += mark.taken + mark.not_taken;
        incomplete += durations < returns || marks < returns;
    }
    EXPECT_GT(returns, 0u);
    EXPECT_EQ(incomplete, 0u);
}

// Another threshold, or a label beside it, is no reason to forget what is known of the branch.
TEST_F(Branch, GoesOnWhenOtherPartsOfTheSplitAreEdited) {
    Program program("drilldown", {"--seconds", "300", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    SplitInfo split = split_at(handle, marked_line("drilldown.c", "BRANCH metered"));
    must(session.backend().set_split(split));
    const uint32_t bit = session.log.split.branch_bit;
    program.go();
    for (const char* label : {"req->type", "", "arg1"}) {
        const uint64_t before = session.calls(handle).returns;
        ASSERT_TRUE(
            session.pump_until([&] { return session.calls(handle).returns > before + 50; }));
        split.threshold = {Threshold::Kind::fixed, before + 1, 0};
        split.label = label;
        must(session.backend().set_split(split));
        EXPECT_EQ(session.log.split.branch_bit, bit);
    }
    program.signal(SIGTERM);
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(session.log.marked[bit].taken, account["branch_taken"].get<uint64_t>());
    EXPECT_EQ(session.log.marked[bit].taken + session.log.marked[bit].not_taken,
              account["handled"].get<uint64_t>());
}

TEST_F(Branch, ALineWithoutCodeIsRefusedWithNearOnes) {
    Program program("drilldown", {"--calls", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    const auto refused = session.backend().set_split(split_at(handle, "drilldown.c:1"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("drilldown.c"));
    EXPECT_FALSE(session.log.split.active);
    const size_t links = session.backend().links().size();
    must(session.backend().set_split(
        split_at(handle, marked_line("drilldown.c", "BRANCH metered"))));
    EXPECT_GT(session.backend().links().size(), links);
    must(session.backend().set_split({}));
    EXPECT_EQ(session.backend().links().size(), links);
    program.go();
    session.pump_to_end();
}

// What `only` needs of lines is watched, too.
TEST_F(Branch, OnlyWatchesItsLines) {
    Program program("drilldown", {"--calls", "60", "--wait"}); // within the rate of slow calls
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle", {Threshold::Kind::fixed, 1, 0});
    OnlyInfo only;
    only.text = "at the branch and not at the lock";
    only.lines = {marked_line("drilldown.c", "BRANCH metered"),
                  marked_line("drilldown.c", "LOCK shared")};
    only.line_clauses = {{{0}, {1}}};
    must(session.backend().set_only(only));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    ASSERT_EQ(session.log.only.marks.size(), 2u);
    uint64_t branched = 0, locked = 0;
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        branched += call.end.marks >> session.log.only.marks[0].bit & 1;
        locked += call.end.marks >> session.log.only.marks[1].bit & 1;
    }
    EXPECT_EQ(session.calls(handle).returns, account["handled"].get<uint64_t>());
    EXPECT_EQ(branched, account["branch_taken"].get<uint64_t>());
    EXPECT_EQ(locked, account["lock_waits"].get<uint64_t>());
}

} // namespace
} // namespace auger::test
