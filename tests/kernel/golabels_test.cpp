// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of goroutines, held against a Go program that knows which call has which one. Programs of
// other versions of Go: AUGER_GO_LABELS=/path/to/one:/path/to/another, made of
// tests/programs/golabels.go.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "views/model/fold.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ranges>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr const char* by_route = "golabel(\"route\")";

std::vector<std::string> programs() {
    std::vector<std::string> all = {"golabels", "golabels_pie", "golabels_stripped"};
    if (const char* const others = std::getenv("AUGER_GO_LABELS"))
        for (const auto& path : std::views::split(std::string_view(others), ':'))
            all.emplace_back(path.begin(), path.end());
    return all;
}

class GoLabels : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        const std::string& name = GetParam();
        if (name.find('/') == name.npos && !std::filesystem::exists(program_path(name)))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    // Before the program's first call, when all is known of its file.
    void begin(Session& session, Program& program) {
        program.wait_ready();
        session.observe(program.pid());
        ASSERT_TRUE(
            session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    }
    nlohmann::json run(Session& session, Program& program) {
        program.go();
        session.pump_to_end();
        session.backend().settle_symbols(std::chrono::seconds(60));
        return program.account();
    }
};

// As values of calls are shown.
std::string shown(const std::string& route) {
    constexpr size_t most = 63;
    if (route.empty())
        return "none";
    return route.size() < most ? fmt::format("\"{}\"", route)
                               : fmt::format("\"{}\"...", route.substr(0, most));
}

// A map of more labels than eight is not read.
bool has_maps(const nlohmann::json& account) {
    const std::string version = account["version"];
    return std::stoi(version.substr(version.find("go1.") + 4)) < 24;
}

TEST_P(GoLabels, AreValuesOfCalls) {
    Program program(GetParam(), {"--calls", "4", "--wait"});
    Session session;
    begin(session, program);
    CallConditions show;
    show.show = {by_route};
    const ProbeId handle = session.time("main.handle", every_call, show);
    const nlohmann::json account = run(session, program);

    std::map<std::string, uint64_t> truth, seen;
    uint64_t all = 0;
    for (const auto& [route, calls] : account["routes"].items()) {
        truth[shown(route)] += calls.get<uint64_t>();
        all += calls.get<uint64_t>();
    }
    const auto crowded = account["crowded"].get<uint64_t>();
    truth[has_maps(account) ? "unreadable" : shown("/crowded")] += crowded;
    for (const StreamLog::SlowCall& call : session.log.slow_calls)
        seen[session.log.value(call, by_route)]++;
    EXPECT_EQ(seen, truth);
    EXPECT_EQ(session.calls(handle).returns, all + crowded);
    EXPECT_EQ(truth.size(), 7u);
}

// ... by which the kernel counts, on all threads at once.
TEST_P(GoLabels, AreAskedForByConditions) {
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"golabel(\"route\") == \"/quote\"", {"/quote"}},
        {"golabel(\"route\") == \"/quote\" or golabel(\"route\") == \"/child\"",
         {"/quote", "/child"}},
        {"not golabel(\"route\")", {""}},
    };
    for (const auto& [condition, routes] : cases) {
        SCOPED_TRACE(condition);
        Program program(GetParam(), {"--calls", "500", "--wait"});
        Session session;
        begin(session, program);
        CallConditions only;
        only.only_if = condition;
        const ProbeId handle = session.time("main.handle", {}, only);
        const nlohmann::json account = run(session, program);
        uint64_t truth = 0, others = account["crowded"].get<uint64_t>();
        for (const auto& [route, calls] : account["routes"].items()) {
            const bool is_one = std::ranges::find(routes, route) != routes.end();
            (is_one ? truth : others) += calls.get<uint64_t>();
        }
        const Calls calls = session.calls(handle);
        EXPECT_EQ(calls.returns, truth);
        EXPECT_EQ(calls.filtered, others);
        EXPECT_TRUE(calls.add_up());
        EXPECT_GE(truth, 2000u);
    }
}

std::vector<std::string> labels_in(const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    for (const std::string& name : names)
        if (name.starts_with("[golabel "))
            labels.push_back(name);
    return labels;
}

// Every sample, of running goroutines and of those that wait.
TEST_P(GoLabels, AreInStacks) {
    Program program(GetParam(), {"--calls", "0", "--burns", "12", "--wait"});
    Session session;
    begin(session, program);
    session.time("main.burnQuote");
    session.time("main.burnNone");
    SamplingSettings sampling;
    sampling.rate_hz = 997;
    sampling.wall = true;
    sampling.go_label = "route";
    must(session.backend().set_sampling(sampling));
    const nlohmann::json account = run(session, program);

    std::map<std::string, uint64_t> running, parked; // by function
    std::map<std::string, double> by_label;
    for (const SampleEvent& sample : session.log.samples) {
        const std::vector<std::string> names = session.stack_names(sample.stack);
        const std::vector<std::string> labels = labels_in(names);
        ASSERT_LE(labels.size(), 1u) << testing::PrintToString(names);
        by_label[labels.empty() ? "{no golabel}" : labels[0].substr(9, labels[0].size() - 10)]++;
        // A thread that looks for work has left the goroutine whose stack it came from.
        if (std::ranges::find(names, "runtime.mcall") != names.end())
            continue;
        for (const auto& [function, route] : account["burning"].items()) {
            if (std::ranges::find(names, function) == names.end())
                continue;
            const std::string truth = route.get<std::string>();
            EXPECT_EQ(labels, truth.empty() ? std::vector<std::string>()
                                            : std::vector{fmt::format("[golabel route={}]", truth)})
                << testing::PrintToString(names);
            (names[0].starts_with("[parked") ? parked : running)[function]++;
        }
    }
    for (const char* const function : {"main.burnQuote", "main.burnOrder", "main.burnNone"})
        EXPECT_GE(running[function], 50u) << function;
    for (const char* const function : {"main.burnQuote", "main.burnNone"})
        EXPECT_GE(parked[function], 50u) << function;
    const FlameTree tree = fold(session.model(), {}, {}, GroupBy::go_label);
    std::map<std::string, double> groups;
    for (uint32_t i = 0; i < tree.nodes.size(); i++)
        if (tree.nodes[i].depth == 1)
            groups[std::string(node_name(session.model(), tree, tree.nodes[i]))] =
                tree.total(i).samples;
    EXPECT_EQ(groups, by_label);
    EXPECT_GT(groups["route=/quote"], 0);
}

// Where nobody asks, or for another one, stacks are what they were.
TEST_P(GoLabels, AreInNoStackUnlessAskedFor) {
    for (const char* const key : {"", "rout", "Route"}) {
        Program program(GetParam(), {"--calls", "0", "--burns", "3", "--wait"});
        Session session;
        begin(session, program);
        SamplingSettings sampling;
        sampling.rate_hz = 997;
        sampling.go_label = key;
        must(session.backend().set_sampling(sampling));
        run(session, program);
        EXPECT_GE(session.log.samples.size(), 50u);
        for (const SampleEvent& sample : session.log.samples)
            EXPECT_THAT(labels_in(session.stack_names(sample.stack)), testing::IsEmpty()) << key;
    }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(info.param.rfind('/') + 1);
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Programs, GoLabels, testing::ValuesIn(programs()), name_of);

class GoLabelsElsewhere : public KernelTest {};

// A program of C's has no goroutines: nothing is known, so nothing holds.
TEST_F(GoLabelsElsewhere, AreUnreadable) {
    Program program("drilldown", {"--calls", "20", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    CallConditions only;
    only.only_if = "not golabel(\"route\")";
    const ProbeId work = session.time("describe", {}, only);
    program.go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(work).returns, 0u);
    EXPECT_GT(session.calls(work).filtered, 0u);
}

// One that never sets any is told.
TEST_F(GoLabelsElsewhere, AreRefusedWhereNothingSetsThem) {
    if (!std::filesystem::exists(program_path("goroutines")))
        GTEST_SKIP() << "go is not installed (package golang-go)";
    Program program("goroutines", {"--calls", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    CallConditions only;
    only.only_if = "golabel(\"route\") == \"/\"";
    const auto refused = session.try_time("main.wander", {}, only);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("nothing in the program sets labels"));
}

} // namespace
} // namespace auger::test
