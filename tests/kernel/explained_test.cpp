// SPDX-License-Identifier: GPL-3.0-or-later
// Calls are told with their parts: against a program that knows what its calls are made of.
#include "loader/kernel/live_explained.h"
#include "loader/stats/histogram.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"
#include "views/model/explanation.h"
#include "views/model/function_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace auger::test {
namespace {

using nlohmann::json;

class Explained : public KernelTest {
  protected:
    void start(const std::vector<std::string>& options) {
        std::vector<std::string> all = {"--wait", "--linger"};
        all.insert(all.end(), options.begin(), options.end());
        program_.emplace("parts", all);
        program_->wait_ready();
        session_.observe(program_->pid());
    }
    void time_all() {
        handle_ = session_.time("handle");
        for (const char* function : {"parse", "lookup", "disk", "render", "descend"})
            parts_[function] = session_.time(function);
    }
    void explain(const std::vector<ProbeId>& by = {}) {
        must(session_.backend().set_explained({true, handle_, by}));
    }
    // Lets the program run; what it says of itself.
    json run() {
        program_->go();
        const json account = program_->account();
        must(session_.backend().refresh());
        return account;
    }
    Explanation explanation() { return explain_calls(session_.model(), {}, handle_); }
    const ExplainedPart* part(const Explanation& found, const std::string& function) {
        for (const ExplainedPart& each : found.functions)
            if (function == "handle"
                    ? each.rest
                    : !each.rest &&
                          session_.model().specs()[each.spec.index()].function == function)
                return &each;
        return nullptr;
    }
    // What the shares may be, where each part is off by less than `gap` (root mean square), as is
    // the duration. Of what the program has as x and d somebody else sees x + u and d + v; by
    // Cauchy and Schwarz cov(x + u, d + v) is off by sd(u) sd(d) + sd(x) sd(v) + sd(u) sd(v) at
    // most, and sd(d + v) by sd(v).
    static void expect_like_own(const json& account, const std::string& name,
                                const PartShare& share) {
        const double gap = account["gap"], d = account["deviation"];
        const json& own = account["parts"][name];
        const double x = own["deviation"], cov = own["variance"].get<double>() * d * d;
        const double off = gap * d + x * gap + gap * gap;
        ASSERT_LT(gap, d / 4) << "the machine is too busy for the program to know";
        const auto over = [&](double value, bool low) {
            return value / std::pow((value > 0) == low ? d + gap : d - gap, 2);
        };
        fmt::print("{}: share {:.4f} {:.4f}, mean {:.0f} {:.0f} us, gap {:.1f} us\n", name,
                   share.variance.value_or(-1), own["variance"].get<double>(), share.mean / 1e3,
                   own["mean"].get<double>() / 1e3, gap / 1e3);
        ASSERT_TRUE(share.variance);
        EXPECT_GE(*share.variance, over(cov - off, true)) << name;
        EXPECT_LE(*share.variance, over(cov + off, false)) << name;
        EXPECT_NEAR(share.mean, own["mean"].get<double>(), gap) << name;
    }

    std::optional<Program> program_;
    Session session_;
    ProbeId handle_;
    std::map<std::string, ProbeId> parts_;
};

// `self` of `functions`, which nobody has to ask for.
TEST_F(Explained, SelfIsThatOfTheProgramsOwnClock) {
    start({"--calls", "300"});
    time_all();
    const json account = run();
    const double handled = account["handled"];
    const auto table = function_table(session_.model(), {}, {}, FunctionColumn::self);
    ASSERT_EQ(table.size(), 6u);
    double self = 0, total = 0;
    for (const FunctionRow& row : table) {
        const std::string name = session_.model().specs()[row.spec.index()].function;
        EXPECT_TRUE(row.calls.is_nested_known);
        EXPECT_NEAR(row.calls.self_ns() / handled, account["parts"][name]["mean"].get<double>(),
                    account["gap"].get<double>())
            << name;
        self += row.calls.self_ns();
        if (name == "handle")
            total = row.calls.sum_ns;
        if (name == "parse" || name == "render" || name == "disk") {
            EXPECT_EQ(row.calls.nested_ns, 0) << name;
        }
    }
    EXPECT_EQ(self, total) << "all is called by handle";
    EXPECT_TRUE(std::ranges::is_sorted(table, std::greater<>(),
                                       [](const FunctionRow& row) { return row.calls.self_ns(); }));
}

// What `only` leaves out is nobody's own, and what is nested in it lies in the call around it.
TEST_F(Explained, WhatIsLeftOutIsInTheCallAroundIt) {
    start({"--calls", "100"});
    handle_ = session_.time("handle");
    const ProbeId disk = session_.time("disk");
    CallConditions never;
    never.only_if = "arg0 == 1 and arg0 == 2";
    const ProbeId lookup = session_.time("lookup", {}, never);
    const json account = run();
    ASSERT_GT(account["read_from_disk"].get<uint64_t>(), 0u);
    EXPECT_EQ(session_.calls(lookup).returns, 0u);
    const auto nested = [&](ProbeId probe) {
        return session_.model().probe_statistics(probe).nested_ns;
    };
    EXPECT_EQ(nested(handle_), session_.model().probe_statistics(disk).sum_ns);
    EXPECT_EQ(nested(lookup), 0);
}

TEST_F(Explained, SharesAreThoseOfTheProgramsOwnClock) {
    start({"--calls", "300", "--again-every", "7"});
    time_all();
    explain();
    const json account = run();
    const Explanation found = explanation();
    EXPECT_EQ(found.calls, account["handled"]);
    EXPECT_EQ(found.stands_for, account["handled"]);
    EXPECT_EQ(found.incomplete, 0u);
    double sum = 0, mean = 0;
    for (const char* name : {"handle", "parse", "lookup", "disk", "render", "descend"}) {
        const ExplainedPart* of = part(found, name);
        ASSERT_TRUE(of) << name;
        expect_like_own(account, name, of->share);
        sum += *of->share.variance;
        mean += of->share.mean;
    }
    EXPECT_EQ(found.functions.size(), 6u);
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(mean / found.mean_ns, 1, 1e-9);
    // The first is that of most: `disk` as planted, which takes less than `parse`, unless the
    // machine is so busy that others waited for a CPU longer.
    const auto own = [&](const std::string& name) {
        return account["parts"][name]["variance"].get<double>();
    };
    for (const auto& [name, probe] : parts_)
        EXPECT_GE(*found.functions.front().share.variance, *part(found, name)->share.variance);
    if (own("disk") > 2 * std::max(own("parse"), own("render"))) {
        EXPECT_EQ(&found.functions.front(), part(found, "disk"));
    }
    const double again = account["again"], handled = account["handled"];
    EXPECT_NEAR(part(found, "parse")->calls, 1 + again / handled, 1e-9);
    EXPECT_NEAR(part(found, "descend")->calls, 3 * (1 + again / handled), 1e-9);
    EXPECT_NEAR(part(found, "disk")->calls, account["read_from_disk"].get<double>() / handled,
                1e-9);
}

TEST_F(Explained, WhatTheThreadDidAddsUpToo) {
    start({"--calls", "200"});
    must(session_.backend().set_sampling({99, true}));
    handle_ = session_.time("handle");
    explain();
    const json account = run();
    const Explanation found = explanation();
    ASSERT_EQ(found.calls, 200u);
    ASSERT_EQ(found.states.size(), 3u);
    EXPECT_EQ(found.state_calls, 200u);
    double sum = 0, mean = 0;
    for (const ExplainedPart& state : found.states) {
        sum += *state.share.variance;
        mean += state.share.mean;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(mean / found.mean_ns, 1, 1e-9);
    // Blocked it is on the disk alone: for as long as it asked to sleep, and no longer than `disk`
    // took by its own clock.
    const auto blocked = std::ranges::find(found.states, "blocked", &ExplainedPart::state);
    ASSERT_NE(blocked, found.states.end());
    constexpr double shortest_sleep_ns = 10e6;
    EXPECT_GE(blocked->share.mean * 200,
              account["read_from_disk"].get<double>() * shortest_sleep_ns);
    EXPECT_LE(blocked->share.mean,
              account["parts"]["disk"]["mean"].get<double>() + account["gap"].get<double>());
}

// While somebody changes a process's mappings, nobody else can look at them; the stack of a thread
// is known all the same.
TEST_F(Explained, NoCallIsLeftOutWhileMappingsChange) {
    Program program("mappings", {"--wait", "--linger"});
    program.wait_ready();
    session_.observe(program.pid());
    handle_ = session_.time("handle");
    explain();
    program.go();
    const json account = program.account();
    must(session_.backend().refresh());
    EXPECT_EQ(explanation().calls, account["handled"]);
    EXPECT_EQ(session_.lost("explained calls: not known to be on the thread's own stack"), 0u);
}

// Of a call that was left by a jump nobody knows when: the call around it is left out, and counted.
TEST_F(Explained, CallsWithAnUnseenEndAreLeftOut) {
    start({"--calls", "100", "--jump-every", "4", "--unit-us", "10"});
    time_all();
    session_.time("jumper");
    explain();
    const json account = run();
    const Explanation found = explanation();
    EXPECT_GT(account["jumped"], 10);
    EXPECT_EQ(found.incomplete, account["jumped"]);
    EXPECT_EQ(found.calls, account["told"]);
    EXPECT_EQ(found.calls + found.incomplete, account["handled"]);
    EXPECT_GT(found.incomplete_mean_ns, 0);
}

// What is no part has its time where it is called.
TEST_F(Explained, PartsAreThoseThatAreAskedFor) {
    start({"--calls", "100"});
    time_all();
    explain({parts_["lookup"], parts_["parse"]});
    const json account = run();
    const Explanation found = explanation();
    ASSERT_EQ(found.functions.size(), 3u);
    EXPECT_EQ(found.calls, 100u);
    const double lookup = account["parts"]["lookup"]["mean"],
                 disk = account["parts"]["disk"]["mean"];
    EXPECT_NEAR(part(found, "lookup")->share.mean, lookup + disk, account["gap"]);
    double others = 0;
    for (const char* name : {"handle", "render", "descend"})
        others += account["parts"][name]["mean"].get<double>();
    EXPECT_NEAR(part(found, "handle")->share.mean, others, account["gap"]);
}

// One that is timed later becomes a part: calls from before are of other parts, and not shown with
// those from then on.
TEST_F(Explained, AFunctionThatIsTimedLaterIsAPartFromThenOn) {
    start({"--calls", "0", "--unit-us", "10"});
    handle_ = session_.time("handle");
    parts_["parse"] = session_.time("parse");
    explain();
    program_->go();
    ASSERT_TRUE(session_.pump_until([&] { return explanation().calls > 20; }));
    const uint64_t before = explanation().calls;
    parts_["disk"] = session_.time("disk");
    ASSERT_TRUE(session_.pump_until([&] { return part(explanation(), "disk"); }));
    ASSERT_TRUE(session_.pump_until([&] { return explanation().calls > before; }));
    const size_t all = session_.model().explained_calls().calls().size();
    EXPECT_LE(explanation().calls + before, all);
    must(session_.backend().set_explained({}));
    const auto await_calls = [&] {
        return session_.pump_until([&, before = session_.calls(handle_).returns] {
            return session_.calls(handle_).returns > before + 20;
        });
    };
    // The program has one thread: one call may just have been about to be told.
    ASSERT_TRUE(await_calls());
    const size_t then = session_.model().explained_calls().calls().size();
    ASSERT_TRUE(await_calls());
    EXPECT_EQ(session_.model().explained_calls().calls().size(), then);
}

// More calls than are told: the long ones all, of the others some, which stand for all of them.
TEST_F(Explained, CallsThatAreToldInPartStandForAll) {
    constexpr uint64_t calls = 20'000;
    start({"--calls", std::to_string(calls), "--unit-us", "1", "--disk-every", "50", "--disk-units",
           "3000"});
    handle_ = session_.time("handle");
    parts_["disk"] = session_.time("disk");
    explain();
    program_->go();
    ASSERT_TRUE(session_.pump_until([&] { return session_.calls(handle_).returns == calls; }));
    const json account = program_->account();
    const Explanation found = explanation();
    const double handled = account["handled"], told = double(found.calls);
    fmt::print("{} of {} calls told, which stand for {}; disk explains {:.4f} ({:.4f} to {:.4f}), "
               "by the program {:.4f}\n",
               told, handled, found.stands_for, *part(found, "disk")->share.variance,
               part(found, "disk")->share.interval->low, part(found, "disk")->share.interval->high,
               account["parts"]["disk"]["variance"].get<double>());
    ASSERT_GT(handled, told) << "the program is too slow for this test";
    // Each call is told with the probability of 1 in k, and then counts as k: the variance of the
    // sum is sum (k - 1), and k is at most what one call stood for.
    double most = 1;
    for (const ExplainedCall& call : session_.model().explained_calls().calls())
        most = std::max<double>(most, call.stands_for);
    EXPECT_GT(most, 1);
    EXPECT_NEAR(found.stands_for, handled, 6 * std::sqrt(handled * most));
    // Long calls come all.
    size_t on_disk = 0;
    for (const ExplainedCall& call : session_.model().explained_calls().calls())
        for (const CallPart& each : call.parts)
            on_disk += each.calls;
    EXPECT_EQ(on_disk, account["read_from_disk"].get<size_t>());
    const PartShare& disk = part(found, "disk")->share;
    const double margin = (disk.interval->high - disk.interval->low) / 2;
    EXPECT_NEAR(*disk.variance, account["parts"]["disk"]["variance"].get<double>(),
                3 * margin + 2 * account["gap"].get<double>() / account["deviation"].get<double>());
}

TEST_F(Explained, APlaceIsRefused) {
    start({"--calls", "1"});
    const ProbeId place = session_.time(marked_line("parts.c", "PLACE"));
    const auto counted = session_.backend().set_explained({true, place, {}});
    ASSERT_FALSE(counted);
    EXPECT_THAT(counted.error().message(), testing::HasSubstr("explain"));
}

TEST(ToldCalls, AreAllWhereTheyAreFew) {
    EXPECT_EQ(told_calls({}, 1000), ToldCalls{});
    EXPECT_EQ(told_calls({{bucket_of(1000), 1000}}, 1000), ToldCalls{});
}

TEST(ToldCalls, AreTheLongestAndSomeOfTheOthers) {
    const ToldCalls told = told_calls(
        {{bucket_of(1'000), 100'000}, {bucket_of(50'000), 300}, {bucket_of(900'000), 90}}, 1000);
    EXPECT_EQ(told.slow_ns, bucket_low(bucket_of(50'000)) - 1);
    EXPECT_EQ(told.every, 164u); // 100,000 of which 610 may be told
    // Where nearly all are of one bucket there is nothing to prefer.
    const ToldCalls alike = told_calls({{bucket_of(1'000), 5'000}}, 1000);
    EXPECT_EQ(alike.slow_ns, UINT64_MAX);
    EXPECT_EQ(alike.every, 5u);
}

} // namespace
} // namespace auger::test
