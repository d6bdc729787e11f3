// SPDX-License-Identifier: GPL-3.0-or-later
// `trace`: each time that a place is reached is told, with its values, its stack and the call that
// it happened in; and each call of a function.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

CallConditions traced_if(const std::string& predicate) {
    CallConditions conditions;
    conditions.slow_if = predicate;
    return conditions;
}

std::string value_of(const SlowCall& call, const std::string& name) {
    const auto value = std::ranges::find(call.values, name, &CallValue::name);
    return value != call.values.end() && value->readable ? value->text : "none";
}

class TracedPlaces : public KernelTest {
  protected:
    // Those of the probe, in the order in which they came.
    static std::vector<const SlowCall*> traced(Session& session, ProbeId probe) {
        std::vector<const SlowCall*> found;
        for (const SlowCall& call : session.model().slow_calls())
            if (session.model().specs()[call.end.call.spec.index()].probe == probe)
                found.push_back(&call);
        return found;
    }
    static void expect_traced(Session& session, ProbeId probe, uint64_t times) {
        EXPECT_TRUE(session.pump_until([&] { return traced(session, probe).size() >= times; }));
        EXPECT_EQ(traced(session, probe).size(), times);
    }
    // Within the burst of one CPU's allowance, so that none is lost to it.
    static std::vector<std::string> calls_of(unsigned calls) {
        return {"--calls", std::to_string(calls), "--wait", "--linger"};
    }
};

TEST_F(TracedPlaces, HaveTheValuesOfTheProgram) {
    constexpr uint64_t orders = 60;
    Program program("usdt", calls_of(orders));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId around = session.time("take_order");
    const ProbeId start = session.time("usdt:shop:order__start", every_call);
    const ProbeId large =
        session.time("usdt:libusdt_library:shop:shipped", every_call, traced_if("arg0 > 40"));
    const ProbeId line = session.time(marked_line("usdt.c", "ORDER"), every_call);
    program.go();
    ASSERT_EQ(program.account()["orders"], orders);
    expect_traced(session, start, orders);
    expect_traced(session, line, orders);
    expect_traced(session, large, orders - 40);
    EXPECT_EQ(session.calls(large).returns, orders) << "all are counted";
    session.backend().settle_symbols(std::chrono::seconds(60));

    uint64_t id = 0;
    std::set<size_t> in;
    for (const SlowCall* call : traced(session, start)) {
        ++id;
        EXPECT_TRUE(call->end.is_hit());
        EXPECT_EQ(call->threshold_ns, 0u);
        EXPECT_EQ(value_of(*call, "arg0"), std::to_string(id));
        EXPECT_EQ(value_of(*call, "arg1"), std::to_string(id * 37 % 1000));
        const auto names = session.stack_names(call->stack);
        ASSERT_FALSE(names.empty());
        EXPECT_EQ(names.front(), "take_order");
        EXPECT_THAT(names, Contains("main"));
        // Which call it happened in.
        const CallIndex parent = session.model().calls()[call->call].parent;
        ASSERT_NE(parent, no_call);
        const CallRecord& order = session.model().calls()[parent];
        EXPECT_EQ(session.model().specs()[order.spec.index()].probe, around);
        EXPECT_LE(order.start_ns, call->end.time_ns);
        // What tracing took is in no duration, so that an order may seem to end before its hit.
        EXPECT_TRUE(in.insert(parent.index()).second) << "each in an order of its own";
    }
    for (const SlowCall* call : traced(session, line)) {
        EXPECT_TRUE(call->end.is_hit());
        EXPECT_THAT(call->values, testing::IsEmpty());
        EXPECT_EQ(session.stack_names(call->stack).at(0), "take_order");
    }
    // The values of a line are not known, and not left out where they are asked for.
    const auto refused =
        session.try_time(marked_line("usdt.c", "ORDER"), every_call, traced_if("arg0 > 0"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().cause, HasSubstr("where a function begins"));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(TracedPlaces, FunctionsAreTracedCallByCall) {
    Program program("usdt", calls_of(100));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId order = session.time("take_order", every_call);
    program.go();
    ASSERT_EQ(program.account()["orders"], 100);
    expect_traced(session, order, 100);
    for (const SlowCall* call : traced(session, order))
        EXPECT_GT(call->end.duration_ns, 0u);
    // The threshold can be moved to one that tells slow calls apart, and a place has none.
    const ProbeId start = session.time("usdt:shop:order__start", every_call);
    const Threshold longer{Threshold::Kind::fixed, 1'000'000};
    must(session.backend().set_slow(order, longer, {}));
    EXPECT_FALSE(session.backend().set_slow(start, longer, {}));
    must(session.backend().set_slow(start, {}, {}));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// More than may be told are counted.
TEST_F(TracedPlaces, WhatIsBeyondTheRateIsCounted) {
    constexpr uint64_t orders = 3000;
    Program program("usdt", calls_of(orders));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId start = session.time("usdt:shop:order__start", every_call);
    program.go();
    ASSERT_EQ(program.account()["orders"], orders);
    EXPECT_TRUE(session.pump_until([&] { return session.calls(start).returns == orders; }));
    EXPECT_TRUE(session.pump_until([&] {
        return traced(session, start).size() + session.lost("slow calls: rate limit") >= orders;
    }));
    EXPECT_EQ(traced(session, start).size() + session.lost("slow calls: rate limit"), orders);
    EXPECT_GE(traced(session, start).size(), 256u) << "the burst";
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_F(TracedPlaces, TracepointsHaveTheirFields) {
    constexpr uint64_t rounds = 60;
    Program program("system_calls", calls_of(rounds));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId write = session.time("tracepoint:syscalls:sys_enter_write", every_call,
                                       traced_if("args.count > 0"));
    const ProbeId open = session.time("tracepoint:syscalls:sys_enter_openat", every_call);
    const ProbeId around = session.time("make_calls");
    program.go();
    ASSERT_EQ(program.account()["rounds"], rounds);
    expect_traced(session, open, rounds);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    uint64_t round = 0;
    for (const SlowCall* call : traced(session, write)) {
        const CallIndex parent = session.model().calls()[call->call].parent;
        if (parent == no_call) // its account
            continue;
        ++round;
        EXPECT_TRUE(call->end.is_hit());
        EXPECT_EQ(value_of(*call, "args.count"), std::to_string(1 + round % 5 * 100));
        EXPECT_NE(value_of(*call, "args.fd"), "none");
        EXPECT_THAT(session.stack_names(call->stack), Contains("make_calls"));
        EXPECT_EQ(session.model().specs()[session.model().calls()[parent].spec.index()].probe,
                  around);
    }
    EXPECT_EQ(round, rounds);
    std::map<std::string, uint64_t> files;
    for (const SlowCall* call : traced(session, open))
        files[value_of(*call, "args.filename")]++;
    EXPECT_EQ(files, (std::map<std::string, uint64_t>{{"\"/dev/null\"", rounds / 2},
                                                      {"\"/dev/zero\"", rounds / 2}}));
}

} // namespace
} // namespace auger::test
