// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that end by a jump are timed until their caller goes on: the program knows how long
// what they jump to takes at least, and measures each call itself.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"
#include "views/canvas.h"
#include "views/json/json_views.h"
#include "views/text/draw.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

namespace auger::test {
namespace {

class TailCalls : public KernelTest {
  protected:
    static uint64_t jumps_to_forward(const nlohmann::json& account) {
        const nlohmann::json& functions = account["functions"];
        return functions["chain"]["entries"].get<uint64_t>() +
               functions["pointed"]["entries"].get<uint64_t>();
    }
};

class TailCallsByProbes : public TailCalls, public testing::WithParamInterface<WayOut> {};
INSTANTIATE_TEST_SUITE_P(WaysOut, TailCallsByProbes, testing::Values(WayOut::cheap, WayOut::ret),
                         way_out_name);

TEST_P(TailCallsByProbes, AreTimedThroughTheJump) {
    Program program("tail_times", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(GetParam()));
    std::map<std::string, ProbeId> probes;
    for (const char* name :
         {"forward", "chain", "outward", "throwing", "pointed", "pointed_throwing", "sleeper"}) {
        probes[name] = session.time(name);
        EXPECT_EQ(session.report.places.size(), 1u);
    }
    EXPECT_THAT(session.report.places[0].note, testing::Not(testing::HasSubstr("jump")));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, truth] : account["functions"].items()) {
        SCOPED_TRACE(name);
        const Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        // Forward's calls from chain and pointed come by a jump: nobody knows where they come back
        // to.
        const CallStatistics statistics = session.model().probe_statistics(probes.at(name));
        const auto longest = account["longest_ns"][name].get<uint64_t>();
        if (name == "forward" || name == "sleeper")
            continue;
        EXPECT_GE(statistics.min_ns, account["shortest_ns"].get<uint64_t>());
        EXPECT_LE(statistics.max_ns, longest);
    }
    EXPECT_GE(session.model().probe_statistics(probes.at("forward")).max_ns,
              account["shortest_ns"].get<uint64_t>());
}

// A return probe sees what a function has jumped to come back, whoever calls the function: also
// when that is timed, too, and its call begins with the stack pointer of the one that has jumped.
TEST_F(TailCalls, AreTimedThroughTheJumpByReturnProbes) {
    Program program("tail_times", {"--calls", "100", "--no-throws", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::trampoline));
    std::map<std::string, ProbeId> probes;
    for (const char* name : {"forward", "chain", "outward", "pointed", "sleeper"})
        probes[name] = session.time(name);
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, probe] : probes) {
        SCOPED_TRACE(name);
        const nlohmann::json& truth = account["functions"][name];
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, 0u);
        const CallStatistics statistics = session.model().probe_statistics(probe);
        EXPECT_GE(statistics.min_ns, account["shortest_ns"].get<uint64_t>());
    }
}

// A jump is timed like a call: it ends where the function that jumps comes back to. With probes on
// all that is involved, which have the same stack pointer. The kernel runs the programs of one
// instruction in the order in which they were attached, or the other way round: both are right.
class TailCallSites : public TailCalls,
                      public testing::WithParamInterface<std::tuple<bool, WayOut>> {};
std::string order_name(const testing::TestParamInfo<std::tuple<bool, WayOut>>& info) {
    const auto& [functions_first, way_out] = info.param;
    return (functions_first ? "after_functions_" : "before_functions_") + to_string(way_out);
}
INSTANTIATE_TEST_SUITE_P(Orders, TailCallSites,
                         testing::Combine(testing::Values(false, true),
                                          testing::Values(WayOut::cheap, WayOut::ret)),
                         order_name);

TEST_P(TailCallSites, AreTimedBesideTheirFunctions) {
    const auto& [functions_first, way_out] = GetParam();
    Program program("tail_times", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    // The callee, and the function that jumps to it.
    const std::map<std::string, std::string> jumps = {
        {"sleeper", "forward"}, {"usleep", "outward"}, {"thrower", "throwing"}};
    std::map<std::string, ProbeId> sites;
    std::map<std::string, ProbeId> functions;
    for (const auto& [callee, caller] : jumps) {
        if (functions_first)
            functions[caller] = session.time(caller);
        sites[callee] =
            session.time(callee + "@" + marked_line("tail_times.cpp", "TAIL " + callee));
        ASSERT_EQ(session.report.places.size(), 1u);
        EXPECT_THAT(session.report.places[0].note, testing::HasSubstr("a tail call: timed from"));
        if (!functions_first)
            functions[caller] = session.time(caller);
    }
    session.time("sleeper");
    session.time("chain");
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    const auto shortest = account["shortest_ns"].get<uint64_t>();
    for (const auto& [callee, caller] : jumps) {
        SCOPED_TRACE(callee);
        nlohmann::json truth = account["functions"][caller];
        // Those that come to it by a jump, of chain's and pointed's, come back to nobody knows
        // where: their ends would not be seen.
        const uint64_t by_jump = caller == "forward" ? jumps_to_forward(account) : 0;
        const Calls calls = session.calls(sites.at(callee));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>() - by_jump);
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, by_jump);
        EXPECT_EQ(session.lost("tail calls: caller unknown"), jumps_to_forward(account));
        const CallStatistics statistics = session.model().probe_statistics(sites.at(callee));
        EXPECT_GE(statistics.min_ns, shortest);
        EXPECT_LE(statistics.max_ns, account["longest_ns"][caller].get<uint64_t>());
        // The function's own calls are what they are without it.
        const Calls jumping = session.calls(functions.at(caller));
        EXPECT_EQ(jumping.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(jumping.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(jumping.unwound, truth["unwound"].get<uint64_t>());
    }
}

// The same where a return probe has replaced the return address that tells where a jump comes back
// to: that of the function that jumps.
TEST_F(TailCalls, AreTimedAtSitesWhoseFunctionsHaveReturnProbes) {
    Program program("tail_times", {"--calls", "100", "--no-throws", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::trampoline));
    std::map<std::string, ProbeId> sites;
    const std::map<std::string, std::string> jumps = {{"sleeper", "forward"},
                                                      {"usleep", "outward"}};
    for (const auto& [callee, caller] : jumps) {
        session.time(caller);
        sites[callee] =
            session.time(callee + "@" + marked_line("tail_times.cpp", "TAIL " + callee));
    }
    session.time("chain");
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [callee, caller] : jumps) {
        SCOPED_TRACE(callee);
        const nlohmann::json& truth = account["functions"][caller];
        const uint64_t by_jump = caller == "forward" ? jumps_to_forward(account) : 0;
        const Calls calls = session.calls(sites.at(callee));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>() - by_jump);
        EXPECT_EQ(calls.dropped, by_jump);
        EXPECT_GE(session.model().probe_statistics(sites.at(callee)).min_ns,
                  account["shortest_ns"].get<uint64_t>());
    }
}

// Where nobody is known to call a function that does nothing but jump, its calls end where what it
// jumps to does: whoever else calls that, and whatever is timed beside it.
TEST_F(TailCalls, OfFunctionsThatPointersCallEndInCallees) {
    for (const bool beside : {false, true}) {
        SCOPED_TRACE(beside);
        Program program("tail_times", {"--calls", "100", "--wait"});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        must(session.backend().set_way_out(WayOut::ret));
        std::map<std::string, ProbeId> probes;
        for (const char* name : {"pointed", "pointed_throwing"}) {
            probes[name] = session.time(name);
            EXPECT_THAT(session.report.places.at(0).note,
                        testing::HasSubstr("timed until what it jumps to returns"));
        }
        if (beside)
            for (const char* name : {"forward", "sleeper", "thrower"})
                session.time(name);
        program.go();
        session.pump_to_end();
        const nlohmann::json account = program.account();
        EXPECT_EQ(program.wait_exit(), 0);
        ASSERT_TRUE(account["ok"].get<bool>()) << account;
        for (const auto& [name, probe] : probes) {
            SCOPED_TRACE(name);
            const nlohmann::json& truth = account["functions"][name];
            const Calls calls = session.calls(probe);
            EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
            EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
            EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
            const CallStatistics statistics = session.model().probe_statistics(probe);
            EXPECT_GE(statistics.min_ns, account["shortest_ns"].get<uint64_t>());
            EXPECT_LE(statistics.max_ns, account["longest_ns"][name].get<uint64_t>());
        }
    }
}

// What it jumps to is timed already: the order of two probes on one return is not known, so its
// calls end at the jump, which is said.
TEST_F(TailCalls, BesideWhatIsTimedAlreadyEndAtTheJump) {
    Program program("tail_times", {"--calls", "100", "--no-throws", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::ret));
    const ProbeId sleeper = session.time("sleeper");
    const ProbeId pointed = session.time("pointed");
    EXPECT_THAT(session.report.places.at(0).note, testing::HasSubstr("end at its own jump"));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(pointed).returns, 100u);
    EXPECT_LT(session.model().probe_statistics(pointed).min_ns, 1'000'000u);
    EXPECT_EQ(session.calls(sleeper).unwound, 0u);
}

// `outward` is called by a pointer, and jumps into another file, so its times end at its jump:
// every figure of it says so, and where the rest is.
TEST_F(TailCalls, AreNamedWhereTheyAreNotTimed) {
    Program program("tailcalls", {"--calls", "20", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::ret));
    const ProbeId probe = session.time("outward");
    must(session.backend().set_split({true, probe, {Threshold::Kind::fixed, 1'000, 0}, false}));
    program.go();
    session.pump_to_end();
    const Model& model = session.model();
    EXPECT_GT(session.calls(probe).returns, 0u);
    ViewOptions wide;
    wide.width = 200;
    const std::string hist = to_text(must(hist_view(model, wide, probe)));
    EXPECT_THAT(hist, testing::HasSubstr("hist outward (without its tail)"));
    EXPECT_THAT(hist, testing::HasSubstr("jumps to at its end, usleep, is not in these times"));
    EXPECT_THAT(split_text(model), testing::HasSubstr("outward (without its tail)"));
    const auto json = nlohmann::json::parse(must(hist_json(model, {}, probe)));
    EXPECT_THAT(json["tail"].get<std::string>(), testing::HasSubstr("usleep"));
    EXPECT_THAT(to_text(probes_view(model, wide)),
                testing::HasSubstr("without its tail; jumps to usleep"));
}

// A function to which all come by jumps: where they would come back to is not known.
TEST_F(TailCalls, OfFunctionsThatNobodyCallsAreRefusedWithAWayOut) {
    Program program("tailcalls", {"--calls", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const auto refused = session.try_time("third@" + marked_line("tailcalls.c", "TAIL third"));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message(),
                testing::AllOf(testing::HasSubstr("comes back to where second was called"),
                               testing::HasSubstr("time third itself")));
}

// Its own jump is no return; a span that ended there would be shorter than what it is to time.
TEST_F(TailCalls, AreNoPointsOfSpansWhereTheirReturnIsNotSeen) {
    Program program("tailcalls", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    SpanDefinition span;
    span.text = "from first to outward%return";
    span.points = {{.role = SpanPoint::Role::from, .probe = "first"},
                   {.role = SpanPoint::Role::to, .probe = "outward", .at_return = true}};
    const ProbeId outwards{100}, firsts{101};
    must(session.backend().set_way_out(WayOut::ret));
    const auto links = session.backend().links();
    const auto refused = session.backend().add_probe({outwards, "outwards", {}, {}, span});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message(),
                testing::AllOf(testing::HasSubstr("ends by a jump to another function"),
                               testing::HasSubstr("its return is not seen"),
                               testing::HasSubstr("exit trampoline")));
    EXPECT_EQ(session.backend().links(), links);
    // first, which is called, is one; and outward where a return probe sees its return.
    span.points[1].probe = "first";
    must(session.backend().add_probe({firsts, "firsts", {}, {}, span}));
    span.points[1].probe = "outward";
    must(session.backend().set_way_out(WayOut::trampoline));
    must(session.backend().add_probe({outwards, "outwards", {}, {}, span}));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(session.model().probe_statistics(firsts).returns, 100);
    EXPECT_EQ(session.model().probe_statistics(outwards).returns, 100);
}

} // namespace
} // namespace auger::test
