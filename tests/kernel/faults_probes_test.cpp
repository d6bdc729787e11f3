// SPDX-License-Identifier: GPL-3.0-or-later
// Probes of each kind are there whole or not at all, whichever step the kernel refuses: when they
// are added, when they are taken off and come back (`undo`, the brake), when what is asked of them
// changes. In the end they count what the program counts.
#include "loader/kernel/features.h"
#include "tests/kernel/faults.h"
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"
#include "views/model/explanation.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace auger::test {
namespace {

using Role = SpanPoint::Role;

constexpr Threshold slower_than(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}

class ProbeFaults : public WaysTest<LiveOptions::Attach> {
  protected:
    // Of a program that waits for its beginning, and at its end.
    void observe(const std::string& name, std::vector<std::string> arguments = {}) {
        program_.emplace(name, std::move(arguments));
        program_->wait_ready();
        session_.emplace(LiveOptions{GetParam()});
        session_->observe(program_->pid());
    }
    Backend& backend() { return session_->backend(); }
    void refuse(const std::vector<FaultyEdit>& edits) { refuse_each_step(*session_, edits); }

    // A probe that comes and goes.
    FaultyEdit adding(const char* name, ProbeRequest request) {
        return {name,
                [this, request]() -> Result<void> {
                    ProbeRequest one = request;
                    one.id = ProbeId{++next_};
                    auto added = backend().add_probe(one);
                    if (!added)
                        return added.error();
                    EXPECT_FALSE(added->places.empty() && one.span.empty());
                    return {};
                },
                [this] { return backend().remove_probe(ProbeId{next_}); }};
    }
    // One that is there already comes back. It goes for good whatever the kernel says: nothing that
    // is refused keeps a probe.
    void refuse_coming_back(ProbeId id) {
        must(backend().set_attached(id, false));
        refuse({{"on again", [=, this] { return backend().set_attached(id, true); },
                 [=, this] { return backend().set_attached(id, false); }}});
        must(backend().set_attached(id, true));
    }
    ProbeId keep(ProbeRequest request) {
        request.id = ProbeId{++next_};
        const ProbeReport report = must(backend().add_probe(request));
        EXPECT_FALSE(report.places.empty() && !request.span.exchanges);
        return request.id;
    }
    nlohmann::json run() {
        program_->go();
        nlohmann::json account = program_->account();
        EXPECT_TRUE(account["ok"].get<bool>()) << account;
        return account;
    }
    void expect_calls(ProbeId probe, uint64_t returns) {
        EXPECT_TRUE(
            session_->pump_until([&] { return session_->calls(probe).returns >= returns; }));
        const Calls calls = session_->calls(probe);
        EXPECT_EQ(calls.returns, returns);
        EXPECT_TRUE(calls.add_up());
    }

    std::optional<Program> program_;
    std::optional<Session> session_;

  private:
    uint32_t next_ = 100;
};

SpanDefinition handled_requests() {
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "open_request", .at_return = true, .key = "ret"},
                   {.role = Role::to, .probe = "close_request", .key = "arg0"},
                   {.role = Role::resume, .probe = "work_on", .key = "arg0"},
                   {.role = Role::park, .probe = "put_aside"}};
    span.text = "from open_request to close_request";
    return span;
}

TEST_P(ProbeFaults, OfSpans) {
    observe("requests", {"--calls", "300", "--wait", "--linger"});
    const SpanDefinition requests = handled_requests();
    refuse({adding("span", {{}, "request", {}, {}, requests}),
            adding("slow span", {{}, "request", slower_than(1'000'000), {}, requests})});
    const ProbeId span = keep({{}, "request", {}, {}, requests});
    SplitInfo split{true, span, slower_than(1'000'000), false};
    refuse({adding("another span", {{}, "request", {}, {}, requests}),
            {"slow", [&] { return backend().set_slow(span, slower_than(1'000'000), {}); },
             [&] { return backend().set_slow(span, {}, {}); }},
            {"-split", [&] { return backend().set_split(split); },
             [&] { return backend().set_split({}); }}});
    refuse_coming_back(span);
    expect_calls(span, run()["closed"]);
}

TEST_P(ProbeFaults, OfExchanges) {
    if (!Features::detect().socket_tracepoints)
        GTEST_SKIP() << "this kernel has no tracepoints of sockets";
    observe("exchanges", {"--calls", "100", "--wait", "--linger"});
    SpanDefinition exchanges, of_unix;
    exchanges.exchanges = ExchangeDefinition{};
    exchanges.text = "exchanges";
    of_unix = exchanges;
    of_unix.exchanges->unix_path = "@nobody";
    refuse({adding("exchanges", {{}, "exchange", {}, {}, exchanges}),
            adding("slow exchanges", {{}, "exchange", slower_than(1'000'000), {}, exchanges})});
    const ProbeId span = keep({{}, "exchange", {}, {}, exchanges});
    refuse({adding("exchanges by a unix socket", {{}, "other", {}, {}, of_unix})});
    refuse_coming_back(span);
    expect_calls(span, run()["served"]);
}

TEST_P(ProbeFaults, OfExplainedCalls) {
    observe("parts", {"--calls", "50", "--wait", "--linger"});
    const ProbeId handle = keep({{}, "handle"}), parse = keep({{}, "parse"}),
                  render = keep({{}, "render"});
    const auto explain = [&](const ExplainRequest& wanted) {
        return [&, wanted] { return backend().set_explained(wanted); };
    };
    const ExplainRequest all{true, handle, {}}, one{true, handle, {parse}};
    refuse({{"explain", explain(all), explain({})}});
    must(backend().set_explained(all));
    refuse({{"explain by one", explain(one), explain(all)},
            {"explain another", explain({true, parse, {}}), explain(all)},
            {"no longer", explain({}), explain(all)}});
    refuse_coming_back(render);
    must(backend().set_explained(all));
    const nlohmann::json account = run();
    expect_calls(handle, account["handled"]);
    const Explanation found = explain_calls(session_->model(), {}, handle);
    EXPECT_EQ(found.calls, account["handled"]);
    EXPECT_EQ(found.functions.size(), 3u);
}

TEST_P(ProbeFaults, OfTracepoints) {
    observe("system_calls", {"--calls", "200", "--wait", "--linger"});
    const std::string parent = "tracepoint:syscalls:sys_enter_getppid";
    CallConditions few;
    few.only_if = "args.count > 300";
    SpanDefinition calls;
    calls.points = {{.role = Role::from, .probe = parent, .key = "args.__syscall_nr"},
                    {.role = Role::to,
                     .probe = "tracepoint:syscalls:sys_exit_getppid",
                     .key = "args.__syscall_nr"}};
    calls.text = "from getppid to getppid";
    refuse({adding("tracepoint", {{}, parent}),
            adding("tracepoints", {{}, "tracepoint:syscalls:sys_*_sched_yield"}),
            adding("tracepoint with a condition",
                   {{}, "tracepoint:syscalls:sys_enter_write", {}, few}),
            adding("span of tracepoints", {{}, "calls", {}, {}, calls})});
    const ProbeId kept = keep({{}, parent}), span = keep({{}, "calls", {}, {}, calls});
    refuse_coming_back(kept);
    refuse_coming_back(span);
    const nlohmann::json account = run();
    expect_calls(kept, account["rounds"]);
    expect_calls(span, account["rounds"]);
}

TEST_P(ProbeFaults, OfUsdtProbes) {
    observe("usdt", {"--calls", "200", "--wait", "--linger"});
    CallConditions some;
    some.only_if = "arg0 != 3";
    refuse({adding("place", {{}, "usdt:shop:order__start"}),
            adding("with a condition", {{}, "usdt:shop:order__start", {}, some}),
            adding("line", {{}, marked_line("usdt.c", "ORDER")})});
    const ProbeId kept = keep({{}, "usdt:shop:order__start"});
    refuse_coming_back(kept);
    const nlohmann::json account = run();
    expect_calls(kept, account["orders"]);
    EXPECT_EQ(account["heard"], account["orders"]) << "the program's own semaphore";
}

TEST_P(ProbeFaults, OfCallSites) {
    Program rehearsal("call_sites", {"--calls", "1"});
    const nlohmann::json functions = rehearsal.account().at("functions");
    rehearsal.wait_exit();
    std::string site;
    for (const auto& [name, counts] : functions.items())
        if (name.starts_with("work@"))
            site = name;
    observe("call_sites", {"--calls", "50", "--wait"});
    refuse({adding("site", {{}, site}), adding("slow site", {{}, site, slower_than(1), {}})});
    const ProbeId kept = keep({{}, site});
    refuse({{"slow", [&] { return backend().set_slow(kept, slower_than(1), {}); },
             [&] { return backend().set_slow(kept, {}, {}); }}});
    refuse_coming_back(kept);
    expect_calls(kept, run()["functions"][site]["returns"]);
}

TEST_P(ProbeFaults, OfCallsThroughPointers) {
    Program rehearsal("call_pointers", {"--calls", "1"});
    const nlohmann::json functions = rehearsal.account().at("functions");
    rehearsal.wait_exit();
    const std::string site = functions.items().begin().key();
    observe("call_pointers", {"--calls", "50", "--wait"});
    refuse({adding("site", {{}, site})});
    const ProbeId kept = keep({{}, site});
    refuse_coming_back(kept);
    expect_calls(kept, run()["functions"][site]["returns"]);
}

TEST_P(ProbeFaults, OfTailCalls) {
    observe("tail_times", {"--calls", "50", "--wait"});
    must(backend().set_way_out(WayOut::ret));
    refuse({adding("function that ends by a jump", {{}, "outward"})});
    const ProbeId kept = keep({{}, "outward"});
    refuse_coming_back(kept);
    expect_calls(kept, run()["functions"]["outward"]["returns"]);
}

TEST_P(ProbeFaults, OfGoFunctions) {
    if (!std::filesystem::exists(program_path("go_jobs")))
        GTEST_SKIP() << "go is not installed (package golang-go)";
    observe("go_jobs");
    const auto sample = [&](const SamplingSettings& sampling) {
        return [&, sampling] { return backend().set_sampling(sampling); };
    };
    SpanDefinition jobs;
    jobs.points = {{.role = Role::from, .probe = "main.begin", .key = "n"},
                   {.role = Role::to, .probe = "main.finish", .key = "n"}};
    jobs.text = "from main.begin to main.finish";
    refuse({adding("function", {{}, "main.finish"}), adding("span", {{}, "job", {}, {}, jobs})});
    const ProbeId kept = keep({{}, "main.finish"});
    refuse_coming_back(kept);
    refuse({{"waits of goroutines", sample({99, true}), sample({})}});
    must(backend().set_sampling({99, true}));
    refuse({adding("function whose goroutines are watched", {{}, "main.finish"})});
    const nlohmann::json account = run();
    expect_calls(kept, account["jobs"].get<uint64_t>() + account["handed_over"].get<uint64_t>());
}

// Lines that mark calls, and the predicate of a split.
TEST_P(ProbeFaults, OfMarks) {
    observe("drilldown", {"--calls", "40", "--wait"});
    const ProbeId handle = keep({{}, "handle"});
    const std::string metered = marked_line("drilldown.c", "BRANCH metered"),
                      found = marked_line("drilldown.c", "RECV found");
    OnlyInfo one, two;
    one.text = "at ONE";
    one.lines = {metered};
    one.line_clauses = {{{0}, {}}};
    two.text = "at ONE and at TWO";
    two.lines = {metered, found};
    two.line_clauses = {{{0}, {}}, {{1}, {}}};
    SplitInfo by_line{true, handle, slower_than(5'000'000), false};
    by_line.branch = Branch::at_line(metered);
    SplitInfo by_condition = by_line, by_other = by_line;
    by_condition.branch = Branch::on_condition("arg1 > 2");
    by_other.branch = Branch::at_line(found);
    const auto split = [&](const SplitInfo& wanted) {
        return [&, wanted] { return backend().set_split(wanted); };
    };
    const auto only = [&](const OnlyInfo& wanted) {
        return [&, wanted] { return backend().set_only(wanted); };
    };
    refuse({{"two lines", only(two), only({})}});
    must(backend().set_only(one));
    must(backend().set_split(by_line));
    refuse({{"another line", split(by_other), split(by_line)},
            {"a predicate", split(by_condition), split(by_line)},
            {"more lines", only(two), only(one)},
            {"-fewer lines", only({}), only(one)}});
    const nlohmann::json account = run();
    expect_calls(handle, account["handled"]);
}

INSTANTIATE_TEST_SUITE_P(Ways, ProbeFaults,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

} // namespace
} // namespace auger::test
