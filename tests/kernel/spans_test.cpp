// SPDX-License-Identifier: GPL-3.0-or-later
// Spans: what begins at one probe and ends at another, on whatever thread. The program times each
// of its requests by its own clock, on both sides of what a span is.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"
#include "views/model/classifier.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using Role = SpanPoint::Role;
using testing::HasSubstr;

SpanDefinition requests(bool queued) {
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = "open_request", .at_return = true, .key = "ret"},
                   {.role = Role::to, .probe = "close_request", .key = "arg0"},
                   {.role = Role::resume, .probe = "work_on", .key = "arg0"},
                   {.role = Role::park, .probe = "put_aside"}};
    span.points.front().queued = queued;
    span.points.front().only_if = "ret != 0";
    span.text = "from open_request to close_request";
    return span;
}

CallStatistics settled(Session& session, ProbeId span, uint64_t ended) {
    EXPECT_TRUE(session.pump_until([&] { return session.calls(span).returns >= ended; }));
    return session.model().probe_statistics(span);
}

void expect_account(const CallStatistics& spans) {
    EXPECT_EQ(spans.entries, spans.returns + spans.unwound + spans.expired + spans.dropped +
                                 spans.filtered + static_cast<double>(spans.open));
}

// Of a program that has ended its requests. Both read one clock; what a probe takes lies outside of
// what it sees, or within `around`.
void expect_all_of(const nlohmann::json& truth, const CallStatistics& spans) {
    EXPECT_EQ(spans.entries, truth["opened"].get<uint64_t>());
    EXPECT_EQ(spans.returns, truth["closed"].get<uint64_t>());
    EXPECT_EQ(spans.open, 0);
    EXPECT_EQ(spans.unwound, 0);
    EXPECT_EQ(spans.stray, 0);
    expect_account(spans);
    EXPECT_GE(spans.sum_ns, truth["inside_ns"].get<double>());
    EXPECT_LE(spans.sum_ns, truth["around_ns"].get<double>());
    EXPECT_GE(spans.max_ns, truth["longest_inside_ns"].get<uint64_t>());
    EXPECT_LE(spans.max_ns, truth["longest_around_ns"].get<uint64_t>());
}

class Spans : public KernelTest {
  protected:
    static ProbeId add(Session& session, const SpanDefinition& span, Threshold slow = {}) {
        const ProbeId id{100};
        session.report = must(session.backend().add_probe({id, "request", slow, {}, span}));
        return id;
    }

    // What is told of 2,000 requests of a program, held against its own account of them. A thread
    // works for each in its four steps alone, which take 20 us of CPU time at least.
    static SpanTimes expect_true(const char* name, const SpanDefinition& span) {
        Program program(name, {"--calls", "2000", "--wait", "--linger"});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        const ProbeId id = add(session, span);
        EXPECT_EQ(session.report.places.size(), 4u);
        program.go();
        const nlohmann::json truth = program.account();
        EXPECT_TRUE(truth["ok"].get<bool>());
        const CallStatistics spans = settled(session, id, truth["closed"].get<uint64_t>());
        expect_all_of(truth, spans);
        const SpanTimes& times = spans.span;
        EXPECT_LE(times.attached, truth["worked_ns"].get<double>());
        EXPECT_GE(times.attached, truth["closed"].get<double>() * 4 * 20'000);
        EXPECT_DOUBLE_EQ(times.attached + times.queued + times.parked, spans.sum_ns);
        program.go();
        EXPECT_EQ(program.wait_exit(), 0);
        return times;
    }
};

TEST_F(Spans, AreCountedAndTimedAsTheProgramDoes) {
    // Each is queued until its first step.
    const SpanTimes times = expect_true("requests", requests(true));
    EXPECT_GT(times.queued, 0);
    EXPECT_GT(times.parked, times.attached);
}

// What GCC calls all of a coroutine's steps is also called to destroy it, with an odd index.
TEST_F(Spans, OfCoroutinesAreFromTheirFirstStepToTheirEnd) {
    const std::string steps = "handle_request [clone .actor]";
    SpanDefinition span;
    span.points = {{.role = Role::from,
                    .probe = steps,
                    .only_if = "(frame_ptr->_Coro_resume_index & 1) == 0",
                    .key = "arg0",
                    .keep = true},
                   {.role = Role::resume, .probe = steps, .key = "arg0"},
                   {.role = Role::park, .probe = steps, .at_return = true},
                   {.role = Role::to, .probe = "handle_request [clone .destroy]", .key = "arg0"}};
    span.text = "from " + steps;
    const SpanTimes times = expect_true("coroutine_requests", span);
    EXPECT_EQ(times.queued, 0);
    EXPECT_GT(times.parked, times.attached);
}

// Clang would have called it so.
TEST_F(Spans, OfPartsThatACoroutineHasNotAreRefusedWithThoseThatItHas) {
    Program program("coroutine_requests", {"--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auto added = session.try_time("handle_request [clone .resume]");
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message(),
                testing::HasSubstr("did you mean handle_request [clone .actor], handle_request "
                                   "[clone .destroy]?"));
}

// Names that differ at their ends only.
TEST_F(Spans, AreKnownByStrings) {
    SpanDefinition named = requests(true);
    named.points[0].key = "str((char *)ret + 8)";
    named.points[1].key = named.points[2].key = "str((char *)arg0 + 8)";
    expect_true("requests", named);
}

// Difficult requests, and no others, come by a line: so the samples in which somebody thinks hard
// are all in spans that did, though 64 requests are open at once and change their threads all the
// time.
TEST_F(Spans, HoldTheSamplesOfTheThreadsThatWorkForThem) {
    Program program("requests", {"--calls", "3000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    SplitInfo split;
    split.active = true;
    split.probe = id;
    split.branch = Branch::at_line(marked_line("requests.c", "BRANCH difficult"));
    must(session.backend().set_split(split));
    session.sample(997);
    program.go();
    const nlohmann::json truth = program.account();
    ASSERT_TRUE(truth["ok"].get<bool>());
    settled(session, id, truth["closed"].get<uint64_t>());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().symbol_progress().pending == 0; }));

    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    std::map<std::string, size_t> hard, light;
    for (size_t i = 0; i < samples.size(); i++) {
        const std::vector<std::string> names = session.stack_names(samples.stacks()[i]);
        const CallIndex span = classify.outermost(samples.calls()[i]);
        const auto taken = span == no_call ? std::nullopt : classify.taken(span);
        const std::string kind = !taken ? "unknown" : *taken ? "taken" : "not-taken";
        if (std::ranges::find(names, "think_hard") != names.end())
            hard[kind]++;
        else if (std::ranges::find(names, "think") != names.end())
            light[kind]++;
    }
    const auto all = [](const std::map<std::string, size_t>& kinds) {
        size_t sum = 0;
        for (const auto& [kind, count] : kinds)
            sum += count;
        return sum;
    };
    SCOPED_TRACE(testing::PrintToString(hard) + testing::PrintToString(light));
    ASSERT_GE(all(hard), 100u);
    ASSERT_GE(all(light), 100u);
    EXPECT_GE(hard["taken"], all(hard) * 99 / 100);
    // A plain request's are none of those; a difficult one thinks lightly, too.
    EXPECT_GE(light["taken"] + light["not-taken"], all(light) * 99 / 100);
    EXPECT_GT(light["not-taken"], all(light) / 2);
    // How many took the branch is counted, whatever was sampled.
    EXPECT_EQ(session.log.marked[session.log.split.branch_bit].taken,
              truth["difficult"].get<uint64_t>());
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(Spans, WhoseEndsAreMissingAreAccountedFor) {
    Program program("requests", {"--calls", "500", "--stray", "7", "--abandon", "5", "--forget",
                                 "4", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    program.go();
    const nlohmann::json truth = program.account();
    CallStatistics spans = settled(session, id, truth["closed"].get<uint64_t>());
    EXPECT_EQ(spans.entries, truth["opened"].get<uint64_t>());
    EXPECT_EQ(spans.returns, truth["closed"].get<uint64_t>());
    EXPECT_EQ(spans.stray, truth["strays"].get<uint64_t>());
    EXPECT_EQ(spans.dropped, 0);
    EXPECT_EQ(spans.unwound, truth["abandoned"].get<uint64_t>());
    EXPECT_EQ(spans.open, truth["forgotten"].get<int64_t>());
    expect_account(spans);
    const std::vector<OpenCall> open = must(session.backend().open_calls(id));
    ASSERT_EQ(open.size(), 4u);
    EXPECT_TRUE(open.front().no_thread);
    EXPECT_THAT(open.front().wait, HasSubstr("key 0x"));
    // Those end with the process.
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    session.pump_to_end();
    spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.open, 0);
    EXPECT_EQ(spans.unwound,
              truth["abandoned"].get<uint64_t>() + truth["forgotten"].get<uint64_t>());
    expect_account(spans);
}

TEST_F(Spans, ThatStayOpenForTooLongExpire) {
    Program program("requests", {"--calls", "200", "--forget", "4", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    SpanDefinition definition = requests(false);
    definition.limit_ns = 3'000'000'000;
    const ProbeId id = add(session, definition);
    program.go();
    const nlohmann::json truth = program.account();
    ASSERT_TRUE(
        session.pump_until([&] { return session.model().probe_statistics(id).expired == 4; }));
    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.returns, truth["closed"].get<uint64_t>());
    EXPECT_EQ(spans.open, 0);
    expect_account(spans);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(Spans, BeyondTheirThresholdAreTraced) {
    Program program("requests", {"--calls", "400", "--loop", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false), {Threshold::Kind::fixed, 1, 0});
    program.go();
    const nlohmann::json truth = program.account();
    settled(session, id, truth["closed"].get<uint64_t>());
    ASSERT_TRUE(session.pump_until([&] {
        return session.log.slow_calls.size() + session.lost("slow calls: rate limit") >=
               truth["closed"].get<uint64_t>();
    }));
    ASSERT_FALSE(session.log.slow_calls.empty());
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        EXPECT_GT(call.end.parked_ns, 0u);
        EXPECT_LT(call.end.parked_ns, call.end.duration_ns);
        EXPECT_LE(call.end.duration_ns, truth["longest_around_ns"].get<uint64_t>());
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(Spans, AreTakenOffAndPutOnAgain) {
    Program program("requests", {"--calls", "0", "--pause-us", "100"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    const size_t links = session.backend().links().size();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(id).returns > 100; }));
    must(session.backend().set_attached(id, false));
    EXPECT_LT(session.backend().links().size(), links);
    const Calls off = session.calls(id);
    EXPECT_EQ(off.open, 0);
    EXPECT_TRUE(off.add_up());
    must(session.backend().set_attached(id, true));
    EXPECT_EQ(session.backend().links().size(), links);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(id).returns > off.returns + 100; }));
    must(session.backend().remove_probe(id));
    EXPECT_LT(session.backend().links().size(), links);
}

// What is traced in a span names it, so that it is classed as the span is.
TEST_F(Spans, AreAroundTheSlowCallsInThem) {
    Program program("requests", {"--calls", "200", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    const ProbeId work = session.time("work_on", {Threshold::Kind::fixed, 1, 0});
    program.go();
    const nlohmann::json truth = program.account();
    ASSERT_TRUE(session.pump_until([&] {
        const uint64_t told =
            session.log.slow_calls.size() + session.lost("slow calls: rate limit");
        return told > 0 && told == session.calls(work).returns;
    }));
    settled(session, id, truth["closed"].get<uint64_t>());
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        ASSERT_EQ(call.enclosing.size(), 1u);
        EXPECT_TRUE(call.enclosing.front().of_no_thread());
        EXPECT_LE(call.enclosing.front().start_ns, call.end.call.start_ns);
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// `only not in request`: what threads do for requests is kept back by the kernel.
TEST_F(Spans, AreAskedByGates) {
    Program program("requests", {"--calls", "2000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    OnlyInfo only;
    only.text = "not in request";
    only.gate.terms = {{.kind = GateTerm::Kind::call, .probe = id}};
    only.gate.clauses = {{{}, {0}}};
    must(session.backend().set_only(only));
    session.sample(997);
    program.go();
    const nlohmann::json truth = program.account();
    settled(session, id, truth["closed"].get<uint64_t>());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().symbol_progress().pending == 0; }));
    EXPECT_GT(session.model().ledger().gated, 100u);
    const SampleStore& samples = session.model().samples();
    for (size_t i = 0; i < samples.size(); i++)
        for (const std::string& name : session.stack_names(samples.stacks()[i])) {
            EXPECT_NE(name, "think");
            EXPECT_NE(name, "think_hard");
        }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Four threads begin and end spans under 16 keys as fast as they can, on several CPUs at once.
TEST_F(Spans, WhoseKeysAreUsedByAllThreadsAtOnceAddUp) {
    Program program("requests", {"--churn", "--calls", "20000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    SpanDefinition churn;
    churn.points = {{.role = Role::from, .probe = "churn_open", .key = "arg0"},
                    {.role = Role::to, .probe = "churn_close", .key = "arg0"}};
    churn.text = "from churn_open to churn_close";
    const ProbeId id = add(session, churn);
    session.sample(997);
    program.go();
    const nlohmann::json truth = program.account();
    const auto opens = truth["churn_opens"].get<double>(),
               closes = truth["churn_closes"].get<double>();
    EXPECT_TRUE(session.pump_until([&] {
        const CallStatistics spans = session.model().probe_statistics(id);
        return spans.returns + spans.stray >= closes && spans.entries >= opens;
    }));
    CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.entries, opens);
    EXPECT_EQ(spans.returns + spans.stray, closes);
    EXPECT_LE(spans.open, 16);
    EXPECT_EQ(session.lost("spans: more than 65536 open"), 0u);
    EXPECT_EQ(spans.dropped, session.lost("spans: begun while one with the same key was ending"));
    expect_account(spans);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    session.pump_to_end();
    spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.open, 0);
    expect_account(spans);
}

// What has no room is dropped, and its end finds nothing; and what comes when others have ended has
// room again.
TEST_F(Spans, ThatAreMoreThanCanBeOpenAreDroppedAndCounted) {
    constexpr double flood = 70'000, room = 65'536;
    Program program("requests", {"--flood", "70000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    SpanDefinition all;
    all.points = {{.role = Role::from, .probe = "churn_open", .key = "arg0"},
                  {.role = Role::to, .probe = "churn_close", .key = "arg0"}};
    all.text = "from churn_open to churn_close";
    const ProbeId id = add(session, all);
    program.go();
    EXPECT_EQ(program.account()["churn_closes"].get<double>(), 2 * flood);
    EXPECT_TRUE(session.pump_until([&] {
        const CallStatistics spans = session.model().probe_statistics(id);
        return spans.returns + spans.stray >= 2 * flood;
    }));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    session.pump_to_end();
    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.entries, 2 * flood);
    EXPECT_EQ(spans.returns, 2 * room);
    EXPECT_EQ(spans.dropped, 2 * (flood - room));
    EXPECT_EQ(spans.stray, spans.dropped);
    EXPECT_EQ(static_cast<double>(session.lost("spans: more than 65536 open")), spans.dropped);
    EXPECT_EQ(spans.open, 0);
    expect_account(spans);
}

TEST_F(Spans, OfAProcessThatIsKilledEndWithIt) {
    Program program("requests", {"--calls", "0"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id = add(session, requests(false));
    session.sample(997);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(id).returns > 1000; }));
    program.signal(SIGKILL);
    session.pump_to_end();
    const CallStatistics spans = session.model().probe_statistics(id);
    EXPECT_EQ(spans.open, 0);
    EXPECT_GT(spans.unwound, 0);
    expect_account(spans);
}

TEST_F(Spans, OfWhatCannotBeProbedAreRefusedWholly) {
    Program program("requests", {"--calls", "10", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const size_t links = session.backend().links().size();
    const auto refused = [&](const SpanDefinition& span) {
        auto added = session.backend().add_probe({ProbeId{7}, "request", {}, {}, span});
        return added ? std::string("added") : added.error().message();
    };
    SpanDefinition span = requests(false);
    span.points[1].probe = "close_reqest";
    EXPECT_THAT(refused(span), HasSubstr("close_reqest"));
    span = requests(false);
    span.points[1].key = "str((char *)arg0)";
    EXPECT_THAT(refused(span), HasSubstr("another of the span's keys is"));
    EXPECT_EQ(session.backend().links().size(), links);
}

} // namespace
} // namespace auger::test
