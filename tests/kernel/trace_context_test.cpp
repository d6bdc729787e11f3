// SPDX-License-Identifier: GPL-3.0-or-later
// `trace` and `span_id` against what the program hands to its functions at the same time, wherever
// it keeps what its threads work for, and whatever it writes there.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <set>

namespace auger::test {
namespace {

using testing::MatchesRegex;

constexpr const char* lost_contexts = "trace contexts: unreadable, or changed while they were read";

CallConditions shows(std::vector<std::string> values) {
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = std::move(values);
    return conditions;
}
CallConditions only_if(const std::string& predicate) {
    CallConditions conditions;
    conditions.only_if = predicate;
    return conditions;
}

uint64_t number(const std::string& shown) {
    return std::stoull(shown, nullptr, 0);
}

// A program, and what its options are.
struct Writer {
    const char* name;
    const char* program;
    const char* library; // that it loads; or null
    bool flags;          // records stay where they are

    std::vector<std::string> arguments(std::vector<std::string> more) const {
        if (library) {
            more.push_back("--library");
            more.push_back(program_path(library));
        }
        if (flags)
            more.push_back("--flags");
        return more;
    }
};

class TraceContext : public KernelTest {
  protected:
    void start(const std::string& program, const std::vector<std::string>& arguments) {
        program_ = std::make_unique<Program>(program, arguments);
        program_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(program_->pid());
    }
    // Until `probe` has seen as many calls as the program made by its account.
    void run(ProbeId probe, const std::vector<std::string>& counted) {
        program_->go();
        account_ = program_->account();
        EXPECT_TRUE(account_["ok"].get<bool>()) << account_;
        calls_ = 0;
        for (const std::string& count : counted)
            calls_ += account_[count].get<uint64_t>();
        EXPECT_TRUE(session_->pump_until([&] {
            const Calls calls = session_->calls(probe);
            return calls.returns + calls.filtered >= calls_;
        }));
        EXPECT_EQ(session_->calls(probe).entries, calls_);
        EXPECT_TRUE(session_->calls(probe).add_up());
    }
    void finish() {
        program_->go();
        EXPECT_EQ(program_->wait_exit(), 0);
    }
    // What the call belongs to, by its arguments: high, low, span.
    void expect_own_trace(const StreamLog::SlowCall& call) {
        const StreamLog& log = session_->log;
        const uint64_t high = number(log.value(call, "arg0")),
                       low = number(log.value(call, "arg1")),
                       span = number(log.value(call, "arg2"));
        if (!high) {
            EXPECT_EQ(log.value(call, "trace"), "none");
            EXPECT_EQ(log.value(call, "span_id"), "none");
            return;
        }
        EXPECT_EQ(log.value(call, "trace"), fmt::format("{:016x}{:016x}", high, low));
        EXPECT_EQ(log.value(call, "span_id"), fmt::format("{:016x}", span));
        traced_++;
    }

    std::unique_ptr<Program> program_;
    std::unique_ptr<Session> session_;
    nlohmann::json account_;
    uint64_t calls_ = 0;  // by the account
    uint64_t traced_ = 0; // that were compared
};

class TraceContextOf : public TraceContext, public testing::WithParamInterface<Writer> {};

TEST_P(TraceContextOf, EachCallIsWhatTheProgramSays) {
    // Within the rate of slow calls.
    start(GetParam().program, GetParam().arguments({"--calls", "50", "--wait", "--linger"}));
    const ProbeId probe =
        session_->time("handle", every_call, shows({"trace", "span_id", "arg0", "arg1", "arg2"}));
    run(probe, {"handled"});
    ASSERT_TRUE(session_->pump_until([&] { return session_->log.slow_calls.size() >= calls_; }));
    for (const StreamLog::SlowCall& call : session_->log.slow_calls)
        expect_own_trace(call);
    EXPECT_EQ(traced_, account_["traced"].get<uint64_t>());
    EXPECT_GT(traced_, 0u);
    EXPECT_EQ(session_->lost(lost_contexts), 0u);
    finish();
}

TEST_P(TraceContextOf, CallsOfATraceAreKept) {
    start(GetParam().program, GetParam().arguments({"--calls", "2000", "--wait", "--linger"}));
    const ProbeId with = session_->time("handle", {}, only_if("trace != 0 and span_id"));
    const ProbeId without = session_->time("handle", {}, only_if("not trace"));
    // As it is, as a part of it, and counted with.
    const ProbeId other = session_->time("handle", {},
                                         only_if("span_id and (span_id != arg2 or (u32)span_id != "
                                                 "(u32)arg2 or span_id + 1 != arg2 + 1)"));
    run(with, {"handled"});
    const auto traced = account_["traced"].get<uint64_t>();
    EXPECT_EQ(session_->calls(with).returns, traced);
    ASSERT_TRUE(session_->pump_until([&] {
        return session_->calls(without).entries >= calls_ &&
               session_->calls(other).entries >= calls_;
    }));
    EXPECT_EQ(session_->calls(without).returns, calls_ - traced);
    EXPECT_EQ(session_->calls(other).returns, 0u);
    finish();
}

constexpr Writer writers[] = {
    {"own", "context_own", nullptr, false},
    {"own_flags", "context_own", nullptr, true},
    {"static", "context_own_static", nullptr, false},
    {"linked_gnu", "context_linked_gnu", nullptr, false},
    {"linked_gnu2", "context_linked_gnu2", nullptr, true},
    {"late_gnu", "context_late", "libtrace_context_late_gnu.so", false},
    {"late_gnu2", "context_late", "libtrace_context_late_gnu2.so", true},
    {"late_small_gnu2", "context_late", "libtrace_context_gnu2.so", false},
};

INSTANTIATE_TEST_SUITE_P(Writers, TraceContextOf, testing::ValuesIn(writers),
                         [](const auto& info) { return std::string(info.param.name); });

// They are known before a child runs.
TEST_F(TraceContext, OfForkedChildrenToo) {
    start("context_linked_gnu2",
          {"--calls", "25", "--threads", "1", "--children", "3", "--wait", "--linger"});
    const ProbeId probe =
        session_->time("handle", every_call, shows({"trace", "span_id", "arg0", "arg1", "arg2"}));
    run(probe, {"handled", "child_calls"});
    ASSERT_TRUE(session_->pump_until([&] { return session_->log.slow_calls.size() >= calls_; }));
    for (const StreamLog::SlowCall& call : session_->log.slow_calls)
        expect_own_trace(call);
    EXPECT_GT(traced_, account_["traced"].get<uint64_t>());
    finish();
}

TEST_F(TraceContext, OfALibraryThatIsLoadedLater) {
    start("context_late", {"--library", program_path("libtrace_context_late_gnu.so"), "--load-late",
                           "--calls", "0", "--pause-us", "20000", "--wait"});
    session_->time("handle", every_call, shows({"trace", "span_id", "arg0", "arg1", "arg2"}));
    EXPECT_TRUE(session_->noticed("none until one does"));
    program_->go();
    const auto is_traced = [&](const StreamLog::SlowCall& call) {
        return session_->log.value(call, "trace") != "none";
    };
    ASSERT_TRUE(session_->pump_until(
        [&] { return std::ranges::count_if(session_->log.slow_calls, is_traced) > 20; }));
    for (const StreamLog::SlowCall& call : session_->log.slow_calls)
        if (is_traced(call))
            expect_own_trace(call);
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait_exit(), 0);
}

// By itself, where the program shares something with those who observe it.
TEST_F(TraceContext, IsShownByItselfWhereThereMayBeOne) {
    start("context_own", {"--calls", "20", "--publish", "--wait", "--linger"});
    const ProbeId probe = session_->time("handle", every_call);
    run(probe, {"handled"});
    ASSERT_TRUE(session_->pump_until([&] { return session_->log.slow_calls.size() >= calls_; }));
    uint64_t shown = 0;
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        const uint64_t high = number(session_->log.value(call, "high"));
        EXPECT_EQ(call.values.contains("trace"), high != 0);
        if (high) {
            EXPECT_EQ(
                session_->log.value(call, "trace"),
                fmt::format("{:016x}{:016x}", high, number(session_->log.value(call, "low"))));
        }
        shown += high != 0;
    }
    EXPECT_EQ(shown, account_["traced"].get<uint64_t>());
    finish();
}

TEST_F(TraceContext, IsNotShownByItselfElsewhere) {
    start("context_own", {"--calls", "10", "--wait", "--linger"});
    const ProbeId probe = session_->time("handle", every_call);
    run(probe, {"handled"});
    ASSERT_TRUE(session_->pump_until([&] { return session_->log.slow_calls.size() >= calls_; }));
    for (const StreamLog::SlowCall& call : session_->log.slow_calls)
        EXPECT_FALSE(call.values.contains("trace"));
    finish();
}

// What the thread works for that ends one.
TEST_F(TraceContext, OfSlowSpansToo) {
    start("context_own", {"--calls", "30", "--publish", "--wait", "--linger"});
    SpanDefinition span;
    span.points = {{.role = SpanPoint::Role::from, .probe = "handle", .key = "arg3"},
                   {.role = SpanPoint::Role::to, .probe = "handle", .key = "arg3"}};
    span.points[1].at_return = true;
    span.text = "from handle key arg3 to handle%return key arg3";
    const ProbeId request{100};
    must(session_->backend().add_probe({request, "request", every_call, {}, span}));
    const ProbeId probe = session_->time("handle", every_call, shows({"trace"}));
    run(probe, {"handled"});
    ASSERT_TRUE(
        session_->pump_until([&] { return session_->log.slow_calls.size() >= 2 * calls_; }));
    std::multiset<std::string> of_spans, of_calls;
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        const SpecInfo& spec = session_->model().specs()[call.end.call.spec.index()];
        (spec.probe == request ? of_spans : of_calls).insert(session_->log.value(call, "trace"));
        if (spec.probe == request) {
            EXPECT_EQ(call.values.size(), call.values.contains("trace") ? 2u : 0u);
        }
    }
    EXPECT_EQ(of_spans, of_calls);
    EXPECT_EQ(of_spans.size() - of_spans.count("none"), account_["traced"].get<uint64_t>());
    finish();
}

// A thread that works for no trace is at no point of a span whose key that would be: all such
// threads would have it in common.
TEST_F(TraceContext, AsKeysOfSpans) {
    start("context_own", {"--calls", "400", "--wait", "--linger"});
    std::vector<ProbeId> spans;
    for (const std::string key : {"trace", "span_id"}) {
        const ProbeId id{static_cast<uint32_t>(100 + spans.size())};
        SpanDefinition span;
        span.points = {{.role = SpanPoint::Role::from, .probe = "handle", .key = key},
                       {.role = SpanPoint::Role::to, .probe = "handle", .key = key}};
        span.points[1].at_return = true;
        span.text = fmt::format("from handle key {0} to handle%return key {0}", key);
        must(session_->backend().add_probe({id, "by " + key, {}, {}, span}));
        spans.push_back(id);
    }
    run(session_->time("handle"), {"handled"});
    const auto traced = account_["traced"].get<uint64_t>();
    EXPECT_LT(traced, calls_);
    for (const ProbeId id : spans) {
        ASSERT_TRUE(session_->pump_until([&] { return session_->calls(id).returns >= traced; }));
        const CallStatistics seen = session_->model().probe_statistics(id);
        EXPECT_EQ(seen.entries, traced);
        EXPECT_EQ(seen.returns, traced);
        EXPECT_EQ(seen.unwound, 0);
        EXPECT_EQ(seen.stray, 0);
    }
    EXPECT_EQ(session_->lost("spans: key unreadable"), 0u);
    finish();
}

// What the specification forbids: bounded, counted, and never the name of another trace.
TEST_F(TraceContext, WhateverStandsThere) {
    start("context_own", {"--calls", "50", "--hostile", "--wait", "--linger"});
    const ProbeId probe =
        session_->time("handle_hostile", every_call, shows({"trace", "span_id", "arg0"}));
    run(probe, {"hostile_calls"});
    ASSERT_TRUE(session_->pump_until([&] { return session_->log.slow_calls.size() >= calls_; }));
    uint64_t unreadable = 0;
    std::set<std::string> traces;
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        const uint64_t kind = number(session_->log.value(call, "arg0"));
        const std::string trace = session_->log.value(call, "trace"),
                          span = session_->log.value(call, "span_id");
        SCOPED_TRACE(fmt::format("{}: {} {}", kind, trace, span));
        if (kind <= 1) {
            EXPECT_THAT(trace, MatchesRegex("[0-9a-f]{32}"));
            EXPECT_THAT(span, MatchesRegex("[0-9a-f]{16}"));
            traces.insert(trace);
        } else if (kind <= 4) {
            EXPECT_EQ(trace, "unreadable");
            EXPECT_EQ(span, "unreadable");
            unreadable++;
        } else {
            EXPECT_EQ(trace, "none");
            EXPECT_EQ(span, "none");
        }
    }
    EXPECT_EQ(traces.size(), 1u);
    EXPECT_GT(unreadable, 0u);
    EXPECT_TRUE(session_->pump_until([&] { return session_->lost(lost_contexts) >= unreadable; }));
    EXPECT_EQ(session_->lost(lost_contexts), unreadable);
    finish();
}

// One thread writes the record that another one says it works for: one trace or the other, or none,
// and nothing that is made of both.
TEST_F(TraceContext, ARecordThatChangesWhileItIsRead) {
    constexpr const char* one = "\"11111111111111111111111111111111\"";
    constexpr const char* two = "\"22222222222222222222222222222222\"";
    start("context_own", {"--calls", "100000", "--share", "--wait", "--linger"});
    const ProbeId all = session_->time("handle_shared", {}, only_if("span_id != 0"));
    const ProbeId third = session_->time(
        "handle_shared", {},
        only_if(fmt::format("trace != {} and trace != {} and span_id != 0", one, two)));
    const ProbeId mixed =
        session_->time("handle_shared", {},
                       only_if(fmt::format("(trace == {} and span_id != 0x1111111111111111) or "
                                           "(trace == {} and span_id != 0x2222222222222222)",
                                           one, two)));
    run(all, {"shared_calls"});
    EXPECT_GT(session_->calls(all).returns, 0u);
    for (const ProbeId probe : {third, mixed}) {
        ASSERT_TRUE(session_->pump_until([&] {
            return session_->calls(probe).entries >= calls_ && session_->calls(probe).open == 0;
        }));
        EXPECT_EQ(session_->calls(probe).returns, 0u);
    }
    finish();
}

// What was known for one probe goes with it; the next one finds it again.
TEST_F(TraceContext, IsFoundAgainForTheNextProbe) {
    start("context_own", {"--calls", "0", "--pause-us", "5000", "--wait"});
    const ProbeId probe = session_->time("handle", every_call, shows({"trace"}));
    program_->go();
    const auto traced = [&] {
        return std::ranges::count_if(session_->log.slow_calls, [&](const auto& call) {
            return session_->log.value(call, "trace") != "none";
        });
    };
    ASSERT_TRUE(session_->pump_until([&] { return traced() > 5; }));
    must(session_->backend().remove_probe(probe));
    session_->time("handle", every_call, shows({"span_id", "trace"}));
    const auto before = traced();
    ASSERT_TRUE(session_->pump_until([&] { return traced() > before + 5; }));
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait_exit(), 0);
}

} // namespace
} // namespace auger::test
