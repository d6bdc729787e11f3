// SPDX-License-Identifier: GPL-3.0-or-later
// Children of a target are targets from their first instruction on: forked, executed, short-lived
// ones, and such as end in the middle of a call. What they call is not in their parent's count of
// its own functions, but follows from how many children it made.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <future>
#include <string>

namespace auger::test {
namespace {

class Children : public WaysTest<LiveOptions::Attach> {
  protected:
    // Runs the program to its end with these functions timed.
    void run(const std::string& name, std::vector<std::string> arguments,
             const std::vector<std::string>& functions) {
        arguments.push_back("--wait");
        Program program(name, arguments);
        program.wait_ready();
        session_ = std::make_unique<Session>(LiveOptions{GetParam()});
        session_->observe(program.pid());
        must(session_->backend().set_way_out(WayOut::ret));
        for (const std::string& function : functions)
            probes_[function] = session_->time(function);
        program.go();
        session_->pump_to_end();
        account_ = program.account();
        EXPECT_EQ(program.wait_exit(), 0);
        EXPECT_TRUE(account_["ok"].get<bool>()) << account_;
        EXPECT_EQ(session_->lost("process events: event ring full"), 0u);
    }
    void expect(const std::string& function, uint64_t returns, uint64_t unwound) {
        SCOPED_TRACE(function);
        Calls calls = session_->calls(probes_.at(function));
        EXPECT_EQ(calls.entries, returns + unwound);
        EXPECT_EQ(calls.returns, returns);
        EXPECT_EQ(calls.unwound, unwound);
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        EXPECT_TRUE(calls.add_up());
    }
    uint64_t number(const nlohmann::json& value) { return value.get<uint64_t>(); }

    std::unique_ptr<Session> session_;
    std::map<std::string, ProbeId> probes_;
    nlohmann::json account_;
};

// A child that is born inside forking_call returns from it without having entered: no call of its.
TEST_P(Children, OfForks) {
    run("forks", {"--calls", "10"}, {"forking_call", "parent_work", "child_work"});
    uint64_t children = 0;
    for (const auto& [way, count] : account_["children"].items())
        children += number(count);
    EXPECT_EQ(children, 50u);
    expect("forking_call", number(account_["functions"]["forking_call"]["returns"]), 0);
    expect("parent_work", number(account_["functions"]["parent_work"]["returns"]), 0);
    expect("child_work", children * number(account_["calls_per_child"]), 0);
}

TEST_P(Children, ThatEndInTheMiddleOfCalls) {
    run("exits", {"--calls", "5"}, {"long_call", "leaver", "after_exec"});
    const auto& processes = account_["processes"];
    uint64_t all = 0;
    for (const auto& [way, count] : processes.items())
        all += number(count);
    EXPECT_EQ(all, 25u);
    expect("long_call", 0, all * number(account_["open_per_process"]));
    uint64_t by_main = number(processes["main"]);
    expect("leaver", by_main, all - by_main);
    expect("after_exec", number(processes["exec"]) * number(account_["calls_after_exec"]), 0);
}

TEST_P(Children, ThatComeAndGo) {
    run("churn", {"--calls", "100"}, {"churn_work"});
    EXPECT_EQ(number(account_["processes"]), 100u);
    expect("churn_work", number(account_["thread_calls"]) + number(account_["process_calls"]), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, Children,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

// Samples of 600 processes of short_lives, of 2 ms each: 1.2 s of CPU time at 99 Hz are 118.8;
// chance spreads that by 10.9, of which 5 are allowed. The first ten births are followed one by
// one.
void expect_samples_of_short_lives(Session& session) {
    uint64_t working = 0;
    for (const SampleEvent& sample : session.log.samples) {
        const auto names = session.stack_names(sample.stack);
        working += std::ranges::find(names, "worker") != names.end();
    }
    EXPECT_GT(working, 62u);
    EXPECT_LT(working, 174u);
    session.expect_samples_add_up();
}

// Each works for 2 ms of its own CPU clock, far less than a period at this rate: what each thread's
// clock counts from its birth on would never be sampled.
class ShortLivedChildren : public KernelTest {
  protected:
    static constexpr uint64_t children = 600;
};

TEST_F(ShortLivedChildren, AreSampledAsOftenAsTheyRun) {
    Program program("short_lives", {std::to_string(children)});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(99);
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(std::chrono::seconds(30));
    expect_samples_of_short_lives(session);
    // Many of them end within each second, of which not each is told.
    EXPECT_TRUE(session.noticed("single exits are not reported"));
    EXPECT_LT(std::ranges::count_if(
                  session.model().notices(),
                  [](const Notice& notice) { return notice.text.ends_with("): exited"); }),
              static_cast<ptrdiff_t>(children));
}

// Of a whole machine the CPUs' clocks are sampled anyway.
TEST_F(ShortLivedChildren, AreNoReasonToSampleAMachineOtherwise) {
    Program program("churn", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    TargetSpec machine;
    machine.kind = TargetSpec::Kind::all;
    session.observe(machine);
    session.sample(99);
    program.go();
    auto said = std::async(std::launch::async, [&] { return program.account(); });
    EXPECT_TRUE(session.pump_until(
        [&] { return said.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    EXPECT_EQ(said.get()["processes"], 100);
    EXPECT_EQ(session.notice_with("sampling by CPU from now on"), "");
}

// Each ends by calling exit once. Others map the C library too.
TEST_F(ShortLivedChildren, AreTimedInLibrariesOrCountedAsLost) {
    Program program("short_lives", {std::to_string(children)});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId exits = session.time("libc:exit");
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    const uint64_t entries = session.calls(exits).entries;
    const uint64_t late = session.lost("processes: not probed from the start");
    EXPECT_LE(entries, children + 1);
    EXPECT_GE(entries + late, children + 1);
    EXPECT_GT(entries, children / 2);
    EXPECT_GT(late, 0u);
}

// The same program, started by a shell that nobody observes: it comes to the target by its name.
class ShortLivesByName : public KernelTest {
  protected:
    // Nobody else's processes have it.
    const std::string name_ = "lives" + std::to_string(getpid());
    const TemporaryFolder folder_;
    const std::string path_ = folder_.path(name_);

    void SetUp() override {
        KernelTest::SetUp();
        std::filesystem::copy_file(program_path("short_lives"), path_);
    }

    TargetSpec named(const std::string& user) const {
        TargetSpec target;
        target.kind = TargetSpec::Kind::name;
        target.name = name_;
        target.user = user;
        return target;
    }
    // Runs so many after another, fewer when it is told to stop, and says how many there were.
    std::vector<std::string> lives(uint64_t most) const {
        return {"-c", "trap end=1 TERM; echo ready; read l; n=0; "
                      "while [ -z $end ] && [ $n -lt " +
                          std::to_string(most) + " ]; do " + path_ +
                          " child || exit 1; n=$((n+1)); done; echo $n"};
    }
    // How many there were. When all is over nothing more of them comes.
    static uint64_t pump_to_end(Session& session, Program& shell) {
        auto said = std::async(std::launch::async, [&] { return shell.read_line(); });
        EXPECT_TRUE(session.pump_until(
            [&] { return said.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
        EXPECT_EQ(shell.wait_exit(), 0);
        must(session.backend().refresh());
        return std::stoull(said.get());
    }
};

class SampledByName : public ShortLivesByName, public testing::WithParamInterface<std::string> {};

TEST_P(SampledByName, AreSampledAsOftenAsTheyRun) {
    Program shell("/bin/sh", lives(600));
    shell.wait_ready();
    Session session;
    session.observe(named(GetParam()));
    session.sample(99);
    shell.go();
    ASSERT_EQ(pump_to_end(session, shell), 600u);
    session.sample(0);
    session.backend().settle_symbols(std::chrono::seconds(30));
    expect_samples_of_short_lives(session);
    EXPECT_TRUE(session.noticed("starts and ends threads often"));
}

INSTANTIATE_TEST_SUITE_P(Users, SampledByName, testing::Values("", "root"),
                         [](const auto& info) { return info.param.empty() ? "any" : info.param; });

// Nor are they reason to sample otherwise.
TEST_F(ShortLivesByName, OfAnotherUserAreNotSampled) {
    Program shell("/bin/sh", lives(100));
    shell.wait_ready();
    Session session;
    session.observe(named("nobody"));
    session.sample(4'999);
    shell.go();
    ASSERT_EQ(pump_to_end(session, shell), 100u);
    EXPECT_EQ(session.model().samples_received(), 0u);
    EXPECT_EQ(session.notice_with("starts and ends threads often"), "");
}

// They have ended before anybody hears of them, and nobody can ask what they had mapped.
TEST_F(ShortLivesByName, HaveNamesThoughNobodyLookedWhileTheyRan) {
    Session session;
    session.observe(named(""));
    session.sample(4'999);
    Program first("/bin/sh", lives(30));
    first.wait_ready();
    first.go();
    ASSERT_EQ(pump_to_end(session, first), 30u);
    ASSERT_TRUE(session.noticed("starts and ends threads often"));
    const size_t before = session.log.samples.size();
    Program others("/bin/sh", lives(10));
    others.wait_ready();
    others.go();
    EXPECT_EQ(others.read_line(), "10");
    must(session.backend().refresh());
    session.sample(0);
    session.backend().settle_symbols(std::chrono::seconds(30));
    uint64_t working = 0;
    for (size_t i = before; i < session.log.samples.size(); i++) {
        const auto names = session.stack_names(session.log.samples[i].stack);
        working += std::ranges::find(names, "worker") != names.end();
    }
    // 20 ms at that rate are 100, or half of them where every second tick comes too late.
    EXPECT_GE(working, 50u);
}

// Each ends by calling exit once. The library is looked for from the first one on.
TEST_F(ShortLivesByName, AreTimedInLibrariesOrCountedAsLost) {
    Program shell("/bin/sh", lives(100'000));
    shell.wait_ready();
    Session session;
    session.observe(named(""));
    const ProbeId exits = session.time("libc:exit");
    ASSERT_TRUE(session.report.pending);
    shell.go();
    EXPECT_TRUE(session.pump_until([&] { return session.calls(exits).entries >= 300; }));
    shell.signal(SIGTERM);
    const uint64_t ended = pump_to_end(session, shell);
    const uint64_t entries = session.calls(exits).entries;
    EXPECT_LE(entries, ended);
    EXPECT_GE(entries + session.lost("processes: not probed from the start"), ended);

    // None runs now. What they map is known, and those that come are probed from the start.
    const ProbeId ends = session.time("libc:_exit");
    EXPECT_FALSE(session.report.pending);
    Program more("/bin/sh", lives(10));
    more.wait_ready();
    more.go();
    EXPECT_EQ(pump_to_end(session, more), 10u);
    EXPECT_EQ(session.calls(exits).entries, entries + 10);
    EXPECT_EQ(session.calls(ends).entries, 10u);
}

// Nobody looks while five run. The library is found in one that lasts, and was there before.
TEST_F(ShortLivesByName, ThatEndBeforeTheirLibraryIsFoundAreCountedAsLost) {
    Program shell("/bin/sh", lives(5));
    shell.wait_ready();
    Session session;
    session.observe(named(""));
    const ProbeId exits = session.time("libc:exit");
    shell.go();
    EXPECT_EQ(shell.read_line(), "5");
    Program lasting(path_, {"1"});
    lasting.wait_ready();
    ASSERT_TRUE(
        session.pump_until([&] { return !session.model().find_probe(exits)->specs.empty(); }));
    EXPECT_EQ(session.lost("processes: not probed from the start"), 6u);
    EXPECT_EQ(session.calls(exits).entries, 0u);
}

// The observed process itself goes, by each way, while three threads are in a call that has no end.
class LastMoments : public KernelTest, public testing::WithParamInterface<std::string> {};

TEST_P(LastMoments, EndTheCallsThatWereOpen) {
    Program program("exits", {"--mode", GetParam(), "--alone", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId long_call = session.time("long_call");
    ProbeId leaver = session.time("leaver");
    ProbeId after_exec = session.time("after_exec");
    session.sample(999);
    program.go();
    session.pump_to_end();

    const std::map<std::string, int> codes = {
        {"exit", 3}, {"_exit", 4}, {"main", 5}, {"exec", 7}, {"kill", 128 + 9}};
    EXPECT_EQ(program.wait_exit(), codes.at(GetParam()));
    Calls calls = session.calls(long_call);
    EXPECT_EQ(calls.entries, 3u);
    EXPECT_EQ(calls.unwound, 3u);
    EXPECT_EQ(calls.returns, 0u);
    EXPECT_EQ(calls.open, 0);
    EXPECT_EQ(calls.dropped, 0u);
    calls = session.calls(leaver);
    EXPECT_EQ(calls.entries, 1u);
    EXPECT_EQ(calls.returns, GetParam() == "main" ? 1u : 0u);
    EXPECT_EQ(calls.unwound, GetParam() == "main" ? 0u : 1u);
    EXPECT_EQ(calls.open, 0);
    calls = session.calls(after_exec);
    EXPECT_EQ(calls.entries, GetParam() == "exec" ? 5u : 0u);
    EXPECT_EQ(calls.returns, calls.entries);
    EXPECT_EQ(calls.open, 0);
    session.expect_samples_add_up();
}

INSTANTIATE_TEST_SUITE_P(Ways, LastMoments,
                         testing::Values("exit", "_exit", "main", "exec", "kill"),
                         [](const auto& info) {
                             return info.param == "_exit" ? "underscore_exit" : info.param;
                         });

} // namespace
} // namespace auger::test
