// SPDX-License-Identifier: GPL-3.0-or-later
// USDT probes, and other places that are counted: how often they are reached, with which values,
// and whether the program knows that somebody listens.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using Role = SpanPoint::Role;
using testing::HasSubstr;

// What it says of itself now.
nlohmann::json account_of(Program& program) {
    program.signal(SIGUSR1);
    return program.account();
}

class Usdt : public WaysTest<LiveOptions::Attach> {
  protected:
    // Until the probe was reached so often, of which `filtered` do not count.
    static void expect_reached(Session& session, ProbeId probe, uint64_t times,
                               uint64_t filtered = 0) {
        EXPECT_TRUE(session.pump_until([&] { return session.calls(probe).entries >= times; }));
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.entries, times);
        EXPECT_EQ(calls.returns, times - filtered);
        EXPECT_EQ(calls.filtered, filtered);
        EXPECT_TRUE(calls.add_up());
        EXPECT_EQ(session.model().probe_statistics(probe).durations.total(), 0);
        EXPECT_TRUE(session.model().is_counted(probe));
    }
    static CallConditions only_if(const std::string& predicate) {
        CallConditions conditions;
        conditions.only_if = predicate;
        return conditions;
    }
};

TEST_P(Usdt, AreCountedAsTheProgramDoes) {
    Program program("usdt", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    const ProbeId start = session.time("usdt:shop:order__start");
    EXPECT_THAT(session.report.places.at(0).function,
                HasSubstr("usdt:shop:order__start in take_order"));
    const ProbeId tick = session.time("usdt:shop:tick");
    EXPECT_EQ(session.report.places.size(), 2u);
    const ProbeId shipped = session.time("usdt:libusdt_library:shop:shipped");
    const ProbeId line = session.time(marked_line("usdt.c", "ORDER"));
    program.go();
    const nlohmann::json truth = program.account();
    ASSERT_TRUE(truth["ok"].get<bool>());
    expect_reached(session, start, truth["orders"].get<uint64_t>());
    expect_reached(session, tick, truth["ticks"].get<uint64_t>());
    expect_reached(session, shipped, truth["orders"].get<uint64_t>());
    expect_reached(session, line, truth["orders"].get<uint64_t>());
    // The program saw at each order that somebody listens.
    EXPECT_EQ(truth["heard"], truth["orders"]);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_P(Usdt, TheSemaphoreIsOnWhileTheProbeIs) {
    Program program("usdt", {"--calls", "0", "--pause-us", "1000"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    EXPECT_EQ(account_of(program)["start_listeners"], 0);
    const ProbeId start = session.time("usdt:shop:order__start");
    const ProbeId shipped = session.time("usdt:shop:shipped");
    const nlohmann::json account = account_of(program);
    EXPECT_EQ(account["start_listeners"], 1);
    EXPECT_EQ(account["shipped_listeners"], 1);
    EXPECT_EQ(account["done_listeners"], 0);
    // Perf events are taken off by others, which is not waited for.
    const auto goes_off = [&](const char* listeners) {
        return wait_until([&] { return account_of(program)[listeners] == 0; });
    };
    must(session.backend().set_attached(start, false));
    EXPECT_TRUE(goes_off("start_listeners"));
    must(session.backend().set_attached(start, true));
    EXPECT_EQ(account_of(program)["start_listeners"], 1);
    must(session.backend().remove_probe(start));
    must(session.backend().remove_probe(shipped));
    EXPECT_TRUE(goes_off("start_listeners"));
    EXPECT_TRUE(goes_off("shipped_listeners"));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait_exit(), 0);
}

// A library that others map is probed in the target's process alone: nobody else's semaphore is on.
TEST_P(Usdt, TheSemaphoreOfOthersStaysOff) {
    Program program("usdt", {"--calls", "0", "--pause-us", "1000"}),
        other("usdt", {"--calls", "0", "--pause-us", "1000"});
    program.wait_ready();
    other.wait_ready();
    {
        Session session({GetParam()});
        session.observe(program.pid());
        const ProbeId shipped = session.time("usdt:shop:shipped");
        EXPECT_EQ(account_of(program)["shipped_listeners"], 1);
        EXPECT_EQ(account_of(other)["shipped_listeners"], 0);
        EXPECT_TRUE(session.pump_until([&] { return session.calls(shipped).returns > 10; }));
    }
    EXPECT_TRUE(wait_until([&] { return account_of(program)["shipped_listeners"] == 0; }));
    for (Program* one : {&program, &other}) {
        one->signal(SIGTERM);
        EXPECT_EQ(one->wait_exit(), 0);
    }
}

TEST_P(Usdt, ValuesAreThoseOfTheProgram) {
    Program program("usdt", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    // (predicate, how often it holds by the program's account)
    const std::vector<std::pair<std::string, std::string>> asked{
        {"arg1 > 0", "positive"},
        {"arg4 < 0", "positive"}, // what lies at a symbol is the opposite
        {"arg3 == (arg0 * 3 & 65535)", "measured"},
        {"arg2 == (arg0 & 255)", "measured"},
        {"arg5 == -17", "measured"},
        {"str(arg6) == \"special\"", "special"},
        {"arg1 < 0 and arg4 < 0", ""}};
    std::vector<ProbeId> probes;
    for (const auto& [predicate, of] : asked)
        probes.push_back(session.time("usdt:shop:measure", {}, only_if(predicate)));
    const ProbeId large =
        session.time("usdt:shop:order__start", {}, only_if("arg1 >= 700 and arg0 > 0"));
    program.go();
    nlohmann::json truth = program.account();
    truth["special"] = truth["failed"]; // every fifth, both of them
    const auto measured = truth["measured"].get<uint64_t>();
    for (size_t i = 0; i < asked.size(); i++) {
        SCOPED_TRACE(asked[i].first);
        const uint64_t holds = asked[i].second.empty() ? 0 : truth[asked[i].second].get<uint64_t>();
        expect_reached(session, probes[i], measured, measured - holds);
    }
    expect_reached(session, large, truth["orders"].get<uint64_t>(),
                   truth["orders"].get<uint64_t>() - truth["large"].get<uint64_t>());
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_P(Usdt, ASpanFromOneToAnotherTakesWhatTheProgramSays) {
    Program program("usdt", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session({GetParam()});
    session.observe(program.pid());
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "usdt:shop:order__start", .key = "arg0"},
                   {.role = Role::to, .probe = "usdt:shop:order__done", .key = "arg0"}};
    span.text = "from usdt:shop:order__start key arg0 to usdt:shop:order__done key arg0";
    const ProbeId all{100}, failed{101};
    must(session.backend().add_probe({all, "order", {}, {}, span}));
    span.points[1].only_if = "arg1 == 1";
    must(session.backend().add_probe({failed, "failed", {}, {}, span}));
    program.go();
    const nlohmann::json truth = program.account();
    const auto orders = truth["orders"].get<uint64_t>();
    ASSERT_TRUE(session.pump_until([&] {
        return session.calls(all).returns >= orders &&
               session.calls(failed).returns >= truth["failed"].get<uint64_t>();
    }));
    const CallStatistics spans = session.model().probe_statistics(all);
    EXPECT_EQ(spans.entries, orders);
    EXPECT_EQ(spans.returns, orders);
    EXPECT_EQ(spans.stray, 0);
    EXPECT_GE(spans.sum_ns, truth["inside_ns"].get<double>());
    EXPECT_LE(spans.sum_ns, truth["around_ns"].get<double>());
    const CallStatistics some = session.model().probe_statistics(failed);
    EXPECT_EQ(some.returns, truth["failed"].get<uint64_t>());
    EXPECT_EQ(some.open, static_cast<int64_t>(orders - truth["failed"].get<uint64_t>()));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, Usdt,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return std::string(info.param == LiveOptions::Attach::multi ? "multi"
                                                                                         : "perf");
                         });

class UsdtRefusals : public KernelTest {};

TEST_F(UsdtRefusals, WhatAPlaceCannotHaveSaysWhy) {
    Program program("usdt", {"--calls", "10", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auto failure = [&](const std::string& text, Threshold slow = {},
                             const std::string& only_if = "") {
        CallConditions conditions;
        conditions.only_if = only_if;
        auto probe = session.try_time(text, slow, conditions);
        return probe ? "counted" : probe.error().message();
    };
    const Threshold slow{Threshold::Kind::fixed, 1'000'000, 0};
    EXPECT_THAT(failure("usdt:shop:rest"), HasSubstr("5-byte nop"));
    EXPECT_THAT(failure("usdt:shop:odd"), HasSubstr("no nop"));
    EXPECT_THAT(failure("usdt:shop:order_start"), HasSubstr("did you mean shop:order__start"));
    EXPECT_THAT(failure("usdt:shop:tick", slow), HasSubstr("has no duration"));
    EXPECT_THAT(failure("usdt:shop:tick", {}, "arg0 > 1"), HasSubstr("has no arguments"));
    EXPECT_THAT(failure("usdt:shop:measure", {}, "ret > 1"), HasSubstr("returns nothing"));
    EXPECT_THAT(failure("usdt:shop:measure", {}, "arg8 > 1"), HasSubstr("floating-point"));
    EXPECT_THAT(failure(marked_line("usdt.c", "ORDER"), {}, "arg0 > 1"),
                HasSubstr("known where a function begins"));

    const ProbeId tick = session.time("usdt:shop:tick");
    auto traced = session.backend().set_slow(tick, slow, {});
    ASSERT_FALSE(traced);
    EXPECT_THAT(traced.error().message(), HasSubstr("has no duration"));
    SplitInfo split;
    split.active = true;
    split.probe = tick;
    split.threshold = slow;
    auto parted = session.backend().set_split(split);
    ASSERT_FALSE(parted);
    EXPECT_THAT(parted.error().message(), HasSubstr("has no duration"));

    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "usdt:shop:order__start", .at_return = true},
                   {.role = Role::to, .probe = "usdt:shop:order__done"}};
    span.text = "from usdt:shop:order__start%return to usdt:shop:order__done";
    auto made = session.backend().add_probe({ProbeId{100}, "order", {}, {}, span});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message(), HasSubstr("does not return"));
}

TEST_F(UsdtRefusals, ThoseThatThereAreAreListed) {
    Program program("usdt", {"--calls", "10", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const UsdtProbes found = must(session.backend().find_usdt_probes("shop:*"));
    std::vector<std::string> names;
    for (const UsdtProbeInfo& probe : found.probes)
        names.push_back(probe.name);
    EXPECT_THAT(names, testing::UnorderedElementsAre("measure", "order__start", "tick",
                                                     "order__done", "shipped"));
    for (const UsdtProbeInfo& probe : found.probes) {
        EXPECT_EQ(probe.sites, probe.name == "tick" ? 2u : 1u);
        EXPECT_EQ(probe.semaphore, probe.name != "tick" && probe.name != "measure");
    }
    EXPECT_EQ(found.skipped.size(), 2u);
    EXPECT_THAT(session.backend().complete_function("usdt:shop:order", 10),
                testing::ElementsAre("usdt:shop:order__done", "usdt:shop:order__start"));
}

} // namespace
} // namespace auger::test
