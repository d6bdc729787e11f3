// SPDX-License-Identifier: GPL-3.0-or-later
// Tracepoints of the kernel's: how often the target hits one, with which fields, and what lies
// between two of them, in interrupts, too.
#include "loader/base/fd.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>

#include <bpf/bpf.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using Role = SpanPoint::Role;
using testing::HasSubstr;

// An interrupt's hit that came while another program ran on the CPU: nobody's in particular.
constexpr const char* missed = "tracepoints: hit while another program ran on the CPU";
constexpr uint64_t least_sleep_ns = 300'000; // that the program asks for

CallConditions only_if(const std::string& predicate) {
    CallConditions conditions;
    conditions.only_if = predicate;
    return conditions;
}

SpanDefinition span_between(const std::string& from, const std::string& to,
                            const std::string& key = "", const std::string& from_if = "") {
    SpanDefinition span;
    span.points = {{.role = Role::from, .probe = from, .only_if = from_if, .key = key},
                   {.role = Role::to, .probe = to, .key = key}};
    span.text = "from " + from + " to " + to;
    return span;
}

class Tracepoints : public KernelTest {
  protected:
    static ProbeId add(Session& session, uint32_t id, const SpanDefinition& span,
                       Threshold slow = {}) {
        session.report = must(session.backend().add_probe({ProbeId{id}, "span", slow, {}, span}));
        return ProbeId{id};
    }
    // Until the probe was hit so often, of which `filtered` do not count.
    static void expect_hit(Session& session, ProbeId probe, uint64_t times, uint64_t filtered = 0) {
        EXPECT_TRUE(session.pump_until([&] { return session.calls(probe).entries >= times; }));
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.entries, times);
        EXPECT_EQ(calls.returns, times - filtered);
        EXPECT_EQ(calls.filtered, filtered);
        EXPECT_TRUE(calls.add_up());
        EXPECT_TRUE(session.model().is_counted(probe));
    }
};

TEST_F(Tracepoints, AreCountedAsTheProgramDoes) {
    Program program("system_calls", {"--calls", "2000", "--wait", "--linger"}),
        other("system_calls", {"--calls", "0"});
    program.wait_ready();
    other.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId parent = session.time("tracepoint:syscalls:sys_enter_getppid");
    EXPECT_EQ(session.report.places.at(0).function, "tracepoint:syscalls:sys_enter_getppid");
    EXPECT_THAT(session.report.notes, testing::Contains(HasSubstr("every system call of every")));
    EXPECT_THAT(session.report.notes, testing::Contains(HasSubstr("time syscall:getppid")));
    const ProbeId yield = session.time("tracepoint:syscalls:sys_*_sched_yield");
    EXPECT_EQ(session.report.places.size(), 2u);
    program.go();
    const nlohmann::json truth = program.account();
    const auto rounds = truth["rounds"].get<uint64_t>();
    ASSERT_EQ(rounds, 2000u);
    expect_hit(session, parent, rounds);
    expect_hit(session, yield, 2 * truth["yields"].get<uint64_t>());
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(Tracepoints, FieldsAreWhatTheProgramPassed) {
    Program program("system_calls", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const std::string write = "tracepoint:syscalls:sys_enter_write";
    const std::string open = "tracepoint:syscalls:sys_enter_openat";
    // What it writes itself is 1, 101 ... bytes long; its account is longer.
    const ProbeId large = session.time(write, {}, only_if("args.count > 300 and args.count < 402"));
    const ProbeId nowhere = session.time(write, {}, only_if("args.fd == 0xffffffff"));
    const ProbeId failed =
        session.time("tracepoint:syscalls:sys_exit_write", {}, only_if("args.ret == -9"));
    const ProbeId zeros = session.time(open, {}, only_if("str(args.filename) == \"/dev/zero\""));
    const ProbeId here = session.time(open, {}, only_if("args.dfd == -100 and args.flags == 0"));
    const ProbeId raw = session.time("tracepoint:raw_syscalls:sys_enter", {},
                                     only_if("args.args[2] == 401 and args.args[0] < 1000"));
    program.go();
    const nlohmann::json truth = program.account();
    const auto rounds = truth["rounds"].get<uint64_t>();
    const auto returned = [&](ProbeId probe, uint64_t expected) {
        EXPECT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= expected; }));
        EXPECT_EQ(session.calls(probe).returns, expected);
        EXPECT_TRUE(session.calls(probe).add_up());
    };
    returned(large, truth["large"].get<uint64_t>());
    returned(nowhere, truth["failed"].get<uint64_t>());
    returned(failed, truth["failed"].get<uint64_t>());
    returned(zeros, truth["zeros"].get<uint64_t>());
    returned(here, rounds);
    expect_hit(session, zeros, rounds, rounds - truth["zeros"].get<uint64_t>());
    // Every fifth write, where it goes to a file.
    uint64_t of_401 = 0;
    for (uint64_t round = 1; round <= rounds; ++round)
        of_401 += round % 5 == 4 && round % 3 != 0;
    returned(raw, of_401);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// A name among a record's bytes, and one that its record says where it lies.
TEST_F(Tracepoints, TextIsReadFromTheRecord) {
    Program program("system_calls", {"--calls", "200", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId mine = session.time("tracepoint:sched:sched_process_exit", {},
                                      only_if("str(args.comm) == \"system_calls\""));
    const ProbeId others = session.time("tracepoint:sched:sched_process_exit", {},
                                        only_if("str(args.comm) != \"system_calls\""));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    // Its own thread and the one that takes signals, which has a name of its own. The process is
    // observed until one of them finds that both are ending: the other one may come too late.
    session.pump_to_end();
    const Calls by_name = session.calls(mine), by_others = session.calls(others);
    for (const Calls& calls : {by_name, by_others}) {
        EXPECT_GE(calls.entries, 1u);
        EXPECT_LE(calls.entries, 2u);
        EXPECT_LE(calls.returns, 1u);
        EXPECT_TRUE(calls.add_up());
    }
    EXPECT_GE(by_name.returns + by_others.returns, 1u);
    if (by_name.entries == 2 && by_others.entries == 2) {
        EXPECT_EQ(by_name.returns + by_others.returns, 2u);
    }
}

TEST_F(Tracepoints, ASystemCallTakesWhatTheProgramSays) {
    Program program("system_calls", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId sleep = add(session, 100,
                              span_between("tracepoint:syscalls:sys_enter_nanosleep",
                                           "tracepoint:syscalls:sys_exit_nanosleep"),
                              {Threshold::Kind::fixed, least_sleep_ns / 2, 0});
    program.go();
    const nlohmann::json truth = program.account();
    const auto sleeps = truth["sleeps"].get<uint64_t>();
    ASSERT_TRUE(session.pump_until([&] {
        return session.calls(sleep).returns >= sleeps && session.log.slow_calls.size() >= sleeps;
    }));
    const CallStatistics spans = session.model().probe_statistics(sleep);
    EXPECT_EQ(spans.entries, sleeps);
    EXPECT_EQ(spans.returns, sleeps);
    EXPECT_EQ(spans.open, 0);
    EXPECT_EQ(spans.stray, 0);
    EXPECT_GE(spans.sum_ns, static_cast<double>(sleeps * least_sleep_ns));
    EXPECT_LE(spans.sum_ns, truth["slept_ns"].get<double>());
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// A timer runs out in an interrupt, mostly while no thread of the target's is running.
TEST_F(Tracepoints, WhatBeginsOnAThreadMayEndInAnInterrupt) {
    Program program("system_calls", {"--calls", "1000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId timer =
        add(session, 100,
            span_between("tracepoint:timer:hrtimer_start", "tracepoint:timer:hrtimer_expire_entry",
                         "args.hrtimer", "args.mode == 1"),
            {Threshold::Kind::fixed, 1'000, 0});
    program.go();
    const nlohmann::json truth = program.account();
    const auto sleeps = truth["sleeps"].get<uint64_t>();
    // Begun by the thread, none is missed; an end may be, and is counted then.
    ASSERT_TRUE(session.pump_until([&] {
        return session.calls(timer).returns + session.lost(missed) >= sleeps &&
               session.log.slow_calls.size() >= session.calls(timer).returns;
    }));
    const CallStatistics spans = session.model().probe_statistics(timer);
    EXPECT_EQ(spans.entries, sleeps);
    EXPECT_GE(spans.returns, sleeps * 9 / 10); // nobody else traces here meanwhile
    EXPECT_TRUE(session.calls(timer).add_up());
    EXPECT_EQ(spans.dropped, 0u);
    // Timers of the whole machine run out: they are nobody's stray ends.
    EXPECT_EQ(spans.stray, 0);
    EXPECT_GE(spans.sum_ns, static_cast<double>(spans.returns) * least_sleep_ns / 2);
    EXPECT_LE(spans.sum_ns, truth["slept_ns"].get<double>());
    // Each is told as the program's, whoever was interrupted.
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        const ThreadInfo& thread = session.model().symbols().thread(call.end.thread);
        EXPECT_EQ(static_cast<pid_t>(thread.pid), program.pid());
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Everything at once on the same threads: what one interrupts of another is not mixed up.
TEST_F(Tracepoints, BesideProbesSpansAndSamplesNothingIsMixedUp) {
    Program program("system_calls", {"--calls", "20000", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId function = session.time("make_calls");
    const ProbeId mixed =
        add(session, 100, span_between("make_calls", "tracepoint:syscalls:sys_enter_close"));
    const ProbeId timer =
        add(session, 101,
            span_between("tracepoint:timer:hrtimer_start", "tracepoint:timer:hrtimer_expire_entry",
                         "args.hrtimer", "args.mode == 1"));
    const ProbeId parent = session.time("tracepoint:syscalls:sys_enter_getppid");
    session.sample(4'000);
    program.go();
    const nlohmann::json truth = program.account();
    session.sample(0);
    const auto rounds = truth["rounds"].get<uint64_t>();
    expect_hit(session, parent, rounds);
    EXPECT_TRUE(session.pump_until([&] {
        return session.calls(function).returns >= rounds && session.calls(mixed).returns >= rounds;
    }));
    for (const ProbeId probe : {function, mixed, timer}) {
        const Calls calls = session.calls(probe);
        EXPECT_TRUE(calls.add_up());
        EXPECT_EQ(calls.entries, probe == timer ? truth["sleeps"].get<uint64_t>() : rounds);
        if (probe == timer)
            EXPECT_LE(calls.entries, calls.returns + session.lost(missed));
        else
            EXPECT_EQ(calls.returns, calls.entries);
    }
    session.expect_samples_add_up();
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// As fast as it can, until it is killed within its calls.
TEST_F(Tracepoints, ATargetThatIsKilledLeavesAnAccountThatAddsUp) {
    Program program("system_calls", {"--calls", "0", "--pause-us", "0"});
    program.wait_ready();
    std::vector<uint64_t> links;
    {
        Session session;
        session.observe(program.pid());
        const ProbeId sleep = add(session, 100,
                                  span_between("tracepoint:syscalls:sys_enter_nanosleep",
                                               "tracepoint:syscalls:sys_exit_nanosleep"));
        const ProbeId writes = add(session, 101,
                                   span_between("tracepoint:syscalls:sys_enter_write",
                                                "tracepoint:syscalls:sys_exit_write"));
        const ProbeId parent = session.time("tracepoint:syscalls:sys_enter_getppid");
        ASSERT_TRUE(session.pump_until([&] { return session.calls(parent).returns > 20'000; }));
        program.signal(SIGKILL);
        EXPECT_EQ(program.wait_exit(), 128 + SIGKILL);
        session.pump_to_end();
        EXPECT_TRUE(session.pump_until([&] { return session.calls(sleep).open == 0; }));
        for (const ProbeId probe : {sleep, writes, parent}) {
            EXPECT_TRUE(session.calls(probe).add_up());
            EXPECT_EQ(session.calls(probe).open, 0);
            EXPECT_LE(session.calls(probe).unwound, 1u);
        }
        links = session.backend().links();
    }
    ASSERT_FALSE(links.empty());
    for (const uint64_t id : links)
        EXPECT_TRUE(wait_until([&] {
            const UniqueFd link(bpf_link_get_fd_by_id(static_cast<uint32_t>(id)));
            return !link && errno == ENOENT;
        })) << id;
}

TEST_F(Tracepoints, WhatTheyCannotHaveSaysWhy) {
    Program program("system_calls", {"--calls", "10", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auto failure = [&](const std::string& text, Threshold slow = {},
                             const std::string& predicate = "") {
        auto probe = session.try_time(text, slow, only_if(predicate));
        return probe ? "counted" : probe.error().message();
    };
    const std::string open = "tracepoint:syscalls:sys_enter_openat";
    EXPECT_THAT(failure("tracepoint:syscalls:sys_enter_opneat"), HasSubstr("sys_enter_openat"));
    EXPECT_THAT(failure("tracepoint:syscall:sys_enter_openat"),
                HasSubstr("tracepoint:syscalls:sys_enter_openat"));
    EXPECT_THAT(failure("tracepoint:*:*"), HasSubstr("the limit is 64"));
    EXPECT_THAT(failure("kernel:tcp_sendmsg"), HasSubstr("tracepoints can be counted"));
    EXPECT_THAT(failure(open, {Threshold::Kind::fixed, 1'000'000, 0}), HasSubstr("no duration"));
    EXPECT_THAT(failure(open, {}, "args.dirfd == 1"), HasSubstr("filename, flags"));
    EXPECT_THAT(failure(open, {}, "arg0 == 1"), HasSubstr("args.FIELD"));
    EXPECT_THAT(failure(open, {}, "ret == 1"), HasSubstr("args.FIELD"));
    EXPECT_THAT(failure("tracepoint:sched:sched_process_exit", {}, "args.comm == 1"),
                HasSubstr("str(...)"));
    EXPECT_THAT(failure("tracepoint:timer:hrtimer_start", {}, "str(args.hrtimer) == \"a\""),
                HasSubstr("not a pointer"));

    auto made = session.backend().add_probe(
        {ProbeId{100},
         "s",
         {},
         {},
         span_between(open, "tracepoint:syscalls:sys_exit_openat", "args.nothing")});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message(), HasSubstr("no field \"nothing\""));
    // Where the kernel may hold a lock that telling of a span needs.
    for (const std::string where : {"tracepoint:lock:contention_end", "tracepoint:kmem:kfree"}) {
        auto refused =
            session.backend().add_probe({ProbeId{101}, "s", {}, {}, span_between(open, where)});
        ASSERT_FALSE(refused) << where;
        EXPECT_THAT(refused.error().message(), HasSubstr("may hold a lock"));
        EXPECT_EQ(failure(where), "counted");
    }
    // Six probes may be at one tracepoint, of any kind.
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(failure(open), "counted");
    EXPECT_THAT(failure(open), HasSubstr("it already has 6 probes"));
    EXPECT_THAT(session.backend().complete_function("tracepoint:syscalls:sys_enter_getpp", 10),
                testing::ElementsAre("tracepoint:syscalls:sys_enter_getppid"));
    EXPECT_THAT(session.backend().complete_function("syscall:getpp", 10),
                testing::ElementsAre("syscall:getppid"));
}

} // namespace
} // namespace auger::test
