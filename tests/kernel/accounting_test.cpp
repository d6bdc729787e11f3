// SPDX-License-Identifier: GPL-3.0-or-later
// Every call is counted once, however it ends, and no target is harmed: programs that count their
// own calls are compared with what the kernel programs counted.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>

namespace auger::test {
namespace {

using Attach = LiveOptions::Attach;

// An empty set of counts means that only the entries are known.
struct Truth {
    uint64_t entries = 0;
    std::optional<uint64_t> returns, unwound;
};

// By name, from an account with `functions`.
std::map<std::string, Truth> truth_of(const nlohmann::json& account) {
    std::map<std::string, Truth> truth;
    for (const auto& [name, counts] : account.at("functions").items()) {
        if (counts.contains("entries"))
            truth[name] = {counts["entries"], counts["returns"], counts["unwound"]};
        else
            truth[name] = {counts["calls"], counts["calls"], 0};
    }
    // The program takes a jump to a function's own start for a part of the call, a probe cannot.
    if (account.contains("self_jumps")) {
        auto jumps = account["self_jumps"].get<uint64_t>();
        truth["self_tail"].entries += jumps;
        truth["self_tail"].returns = truth["self_tail"].entries;
    }
    return truth;
}

struct Case {
    std::string program;
    std::vector<std::string> arguments;
    // Functions that cannot be probed; everything else must be.
    std::set<std::string> refused = {};
};

void PrintTo(const Case& test, std::ostream* out) {
    *out << test.program;
}

using Parameters = std::tuple<Case, Attach, WayOut>;

class Accounting : public WaysTest<Parameters> {};

TEST_P(Accounting, CallsEqualTheProgramsOwnCount) {
    const auto& [test, attach, way_out] = GetParam();
    // The names are known only from the account, so an instance of the program gives one first.
    Program rehearsal(test.program, {"--calls", "1"});
    auto functions = truth_of(rehearsal.account());
    ASSERT_EQ(rehearsal.wait_exit(), 0);

    auto arguments = test.arguments;
    arguments.push_back("--wait");
    Program program(test.program, arguments);
    program.wait_ready();
    Session session({attach});
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    std::map<std::string, ProbeId> probes;
    for (const auto& [name, counts] : functions) {
        auto probe = session.try_time(name);
        if (test.refused.contains(name)) {
            ASSERT_FALSE(probe) << name;
            EXPECT_FALSE(probe.error().cause.empty());
            continue;
        }
        ASSERT_TRUE(probe) << probe.error().message();
        probes[name] = *probe;
        for (const ProbePlace& place : session.report.places)
            EXPECT_THAT(place.kind,
                        testing::HasSubstr(name.find('@') != name.npos     ? "+return"
                                           : way_out == WayOut::trampoline ? "+trampoline"
                                                                           : "+ret"));
    }

    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, truth] : truth_of(account)) {
        if (!probes.contains(name))
            continue;
        SCOPED_TRACE(name);
        Calls calls = session.calls(probes.at(name));
        EXPECT_GT(truth.entries, 0u);
        EXPECT_EQ(calls.entries, truth.entries);
        // A function that jumps to its own beginning: return probes do not see the turn before end.
        const uint64_t lost = way_out == WayOut::trampoline && name == "self_tail"
                                  ? account["self_jumps"].get<uint64_t>()
                                  : 0;
        EXPECT_EQ(calls.returns, truth.returns.value() - lost);
        EXPECT_EQ(calls.unwound, truth.unwound.value() + lost);
        EXPECT_EQ(calls.open, 0);
        EXPECT_EQ(calls.dropped, 0u);
        EXPECT_TRUE(calls.add_up());
    }
}

std::string case_name(const testing::TestParamInfo<Parameters>& info) {
    const auto& [test, attach, way_out] = info.param;
    return test.program + (attach == Attach::multi ? "_multi_" : "_perf_") + to_string(way_out);
}

const Case tailcalls{"tailcalls", {"--calls", "300"}, {"switcher"}};
const Case prologues{"prologues", {"--calls", "2000"}};
const Case recursion{"recursion", {"--calls", "20"}};

INSTANTIATE_TEST_SUITE_P(ExitInstructions, Accounting,
                         testing::Combine(testing::Values(Case{"exceptions", {"--calls", "200"}},
                                                          Case{"longjmps", {"--calls", "200"}},
                                                          Case{"coroutines", {"--calls", "100"}},
                                                          Case{"cancels", {"--calls", "50"}},
                                                          Case{"signals", {"--calls", "100"}},
                                                          tailcalls, prologues, recursion),
                                          testing::Values(Attach::multi, Attach::perf),
                                          testing::Values(WayOut::ret)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(CheapExits, Accounting,
                         testing::Combine(testing::Values(Case{"exceptions", {"--calls", "200"}},
                                                          Case{"longjmps", {"--calls", "200"}},
                                                          Case{"coroutines", {"--calls", "100"}},
                                                          Case{"cancels", {"--calls", "50"}},
                                                          Case{"signals", {"--calls", "100"}},
                                                          tailcalls, prologues, recursion),
                                          testing::Values(Attach::multi),
                                          testing::Values(WayOut::cheap)),
                         case_name);

// The names in their accounts are call sites: `work@call_sites.c:34`.
INSTANTIATE_TEST_SUITE_P(
    CallSites, Accounting,
    testing::Combine(testing::Values(Case{"call_sites", {"--calls", "200"}},
                                     Case{"call_sites_cpp", {"--calls", "200"}},
                                     Case{"call_pointers", {"--calls", "200"}},
                                     Case{"call_pointers_plain", {"--calls", "200"}},
                                     Case{"call_sites_no_plt", {"--calls", "200"}},
                                     Case{"call_sites_stripped", {"--calls", "200"}}),
                     testing::Values(Attach::multi, Attach::perf), testing::Values(WayOut::ret)),
    case_name);

// Only where a return probe is known to do no harm.
INSTANTIATE_TEST_SUITE_P(Trampoline, Accounting,
                         testing::Combine(testing::Values(tailcalls, prologues, recursion),
                                          testing::Values(Attach::multi, Attach::perf),
                                          testing::Values(WayOut::trampoline)),
                         case_name);

// A thousand functions of a library by one glob; the count of each follows from the rounds. One
// perf event takes the kernel 0.1 s to detach, so that way gets ten of them.
class ManyFunctions : public WaysTest<std::tuple<Attach, WayOut>> {};

TEST_P(ManyFunctions, EachIsCountedByItself) {
    const auto& [attach, way_out] = GetParam();
    Program program("many_functions", {"--calls", "5", "--wait"});
    program.wait_ready();
    Session session({attach});
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    ProbeId probe = session.time(attach == Attach::multi ? "libmany_functions:fn_*"
                                                         : "libmany_functions:fn_001*");
    std::vector<ProbePlace> places = session.report.places;
    EXPECT_EQ(places.size(), attach == Attach::multi ? 1000u : 10u);
    EXPECT_THAT(session.report.skipped, testing::IsEmpty());

    program.go();
    session.pump_to_end();
    nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    auto rounds = account["rounds"].get<uint64_t>();
    EXPECT_EQ(rounds, 5u);
    uint64_t all = 0;
    for (const ProbePlace& place : places) {
        uint64_t number = std::stoul(place.function.substr(3));
        Calls calls = session.calls(place.spec);
        EXPECT_EQ(calls.entries, rounds * (number % 7 + 1)) << place.function;
        EXPECT_EQ(calls.returns, calls.entries) << place.function;
        EXPECT_EQ(calls.open, 0) << place.function;
        all += calls.entries;
    }
    if (attach == Attach::multi) {
        EXPECT_EQ(all, account["calls"].get<uint64_t>());
    }
    Calls sum = session.calls(probe);
    EXPECT_EQ(sum.entries, all);
    EXPECT_TRUE(sum.add_up());
}

INSTANTIATE_TEST_SUITE_P(Ways, ManyFunctions,
                         testing::Combine(testing::Values(Attach::multi, Attach::perf),
                                          testing::Values(WayOut::cheap, WayOut::ret,
                                                          WayOut::trampoline)),
                         ways_name);

} // namespace
} // namespace auger::test
