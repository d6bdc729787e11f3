// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of Go's functions: kept by goroutine, whatever thread it is on and wherever its stack lies.
// The program counts its calls itself, and measures them by its own clock.
#include "loader/kernel/features.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class GoroutineCalls : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(program_path(GetParam())))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
};

// No call is longer than what the program measures around it: both read one clock, the kernel's
// readings lie within the program's, and what is taken out for samples makes it shorter only.
TEST_P(GoroutineCalls, AreCountedAndMeasuredAsTheProgramDoes) {
    Program program(GetParam(), {"--calls", "60", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    std::map<std::string, ProbeId> probes;
    for (const char* name :
         {"main.wander", "main.descend", "main.recovers", "main.raise", "main.leave"}) {
        probes[name] = session.time(name);
        ASSERT_EQ(session.report.places.size(), 1u);
        EXPECT_THAT(session.report.places[0].note, Not(HasSubstr("jump"))) << name;
    }
    program.go();
    nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    EXPECT_GT(account["migrated"].get<uint64_t>(), 100u);
    // Before the program's end would end it. The last goroutine may be on its way out.
    EXPECT_TRUE(session.pump_until([&] { return session.calls(probes["main.leave"]).open == 0; }));
    for (const auto& [name, truth] : account["functions"].items()) {
        SCOPED_TRACE(name);
        const Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        const CallStatistics statistics = session.model().probe_statistics(probes.at(name));
        if (calls.returns) {
            EXPECT_LE(statistics.max_ns, truth["longest_ns"].get<uint64_t>());
        }
    }
    // It sleeps five times for 20 us.
    EXPECT_GE(session.model().probe_statistics(probes.at("main.wander")).min_ns, 100'000u);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Each of the program's workers is one call for as long as it works.
TEST_P(GoroutineCalls, AreListedWhileTheyAreOpenOrItIsSaidThatTheyAreNot) {
    Program program(GetParam(), {"--calls", "2000", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId worker = session.time("main.worker");
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(worker).open > 0; }));
    const std::vector<OpenCall> calls = must(session.backend().open_calls(worker));
    const bool may_be_listed = Features::detect().map_iterators;
    EXPECT_EQ(std::ranges::any_of(
                  calls, [](const OpenCall& call) { return call.thread.comm == "goroutine"; }),
              may_be_listed);
    EXPECT_EQ(session.noticed("calls of goroutines are counted but not listed"), !may_be_listed);
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Go reads clocks on its scheduler's stack, in the vDSO, without saying that it is there. Two
// threads do so on one CPU, so that they are preempted there as often as not. CPU time is what was
// neither blocked nor runnable of the time on a thread: what it may be more than the thread's by
// the kernel are interrupts and the way from one thread to the other (1.1); less, samples (0.8). It
// was 1.8 times as much where waits in the vDSO were no call's.
TEST_P(GoroutineCalls, HaveTheTimeInWhichTheyReadClocks) {
    Program program(GetParam(), {"--clocks", "--calls", "40", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId read = session.time("main.readClock");
    SamplingSettings sampling;
    sampling.rate_hz = 997;
    sampling.wall = true;
    must(session.backend().set_sampling(sampling));
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    EXPECT_TRUE(session.pump_until([&] {
        return session.calls(read).returns == 80 &&
               session.backend().symbol_progress().pending == 0;
    }));
    size_t reading = 0, waiting = 0, outside = 0;
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++) {
        const std::vector<std::string> names = session.stack_names(samples.stacks()[i]);
        // Where nothing is called yet the call may not have begun.
        if (!std::ranges::any_of(names, [](const auto& name) { return name == "time.Now"; }) ||
            std::ranges::find(names, "main.readClock") == names.end())
            continue;
        reading++;
        waiting += samples.kinds()[i] != SampleKind::cpu;
        outside += samples.calls()[i] == no_call;
    }
    EXPECT_GT(reading, 500u);
    EXPECT_GT(waiting, 100u);
    EXPECT_EQ(outside, 0u) << "of " << reading;
    const SpanTimes times = session.model().probe_statistics(read).span;
    const double cpu = times.watched - times.blocked - times.runnable;
    const double truth = account["cpu_ns"].get<double>();
    EXPECT_LE(cpu, 1.1 * truth);
    EXPECT_GE(cpu, 0.8 * truth);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_P(GoroutineCalls, AreNotExplained) {
    Program program(GetParam(), {"--calls", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId worker = session.time("main.worker");
    const auto refused = session.backend().set_explained({true, worker, {}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("goroutine"));
}

// Go's own traceback says how its handler is called. Nobody calls what runs on a scheduler's stack:
// what it works for has another.
class GoStacks : public GoroutineCalls {};

TEST_P(GoStacks, AreThoseOfGosTraceback) {
    Program program(GetParam(), {"--calls", "500", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handler = session.time("main.handler");
    SamplingSettings sampling;
    sampling.rate_hz = 997;
    sampling.wall = true;
    must(session.backend().set_sampling(sampling));
    program.go();
    nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    const auto callers = account["callers"].get<std::vector<std::string>>();
    ASSERT_GE(callers.size(), 5u);
    EXPECT_TRUE(session.pump_until([&] {
        return session.calls(handler).returns == account["calls"].get<uint64_t>() &&
               session.backend().symbol_progress().pending == 0;
    }));
    const Calls calls = session.calls(handler);
    EXPECT_EQ(calls.entries, calls.returns);
    EXPECT_LE(session.model().probe_statistics(handler).max_ns,
              account["longest_ns"].get<uint64_t>());

    uint64_t whole = 0, burning = 0;
    std::map<std::string, uint64_t> cut;
    for (const SampleEvent& sample : session.log.samples) {
        std::vector<std::string> names = session.stack_names(sample.stack);
        ASSERT_FALSE(names.empty());
        if (names.back().starts_with("[stack cut")) {
            cut[testing::PrintToString(names)]++;
            continue;
        }
        whole++;
        // The innermost may be the kernel's, which are not always named here.
        names.erase(names.begin(), std::ranges::find_if(names, [](const std::string& name) {
                        return name.starts_with("runtime.") || name.starts_with("main.") ||
                               name.starts_with("net");
                    }));
        EXPECT_THAT(names, Not(Contains("[unknown]")));
        for (std::string& name : names)
            name = name.substr(0, name.find(".abi0")); // of assembly
        const auto scheduler = std::ranges::find(names, "runtime.mcall");
        // Before it changes stacks it has a caller.
        EXPECT_TRUE(scheduler == names.end() || scheduler == names.begin() ||
                    std::next(scheduler) == names.end())
            << testing::PrintToString(names);
        const auto burn = std::ranges::find(names, "main.burn");
        if (burn == names.end())
            continue;
        burning++;
        names.erase(names.begin(), std::next(burn));
        std::erase_if(names, [&](const std::string& name) {
            return std::ranges::find(callers, name) == callers.end();
        });
        EXPECT_EQ(names, callers);
    }
    EXPECT_GT(burning, 50u);
    // At most the few instructions between one stack and the other, and a thread's first ones.
    EXPECT_GE(whole, session.log.samples.size() * 99 / 100)
        << whole << " of " << session.log.samples.size() << testing::PrintToString(cut);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Linked, GoStacks,
                         testing::Values("go_server", "go_server_stripped", "go_server_static"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Linked, GoroutineCalls,
                         testing::Values("goroutines", "goroutines_pie", "goroutines_stripped"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace auger::test
