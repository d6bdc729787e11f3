// SPDX-License-Identifier: GPL-3.0-or-later
// `exit cheap`: calls that end some instructions before their ret end once, when they should, and
// with what is known then. See also Accounting, which counts calls that leave in other ways.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <optional>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What is said of each function's exits.
const std::map<std::string, std::string> kinds = {
    {"leaves_guarded", "+ret (cheap)"},
    {"leaves_either_way", "+ret (cheap)"},
    {"leaves_joined", "+ret (cheap)"},
    {"leaves_by_frame", "+ret (cheap)"},
    {"leaves_a_loop", "+ret"},
    {"leaves_after_a_call", "+ret"},
    {"leaves_half_after_a_call", "+ret (1 of 2 cheap)"},
    {"leaves_at_the_entry", "+ret (cheap)"},
    {"leaves_after_a_string", "+ret"},
    {"leaves_through_a_table", "+ret"},
    {"leaves_by_a_pointer", "+ret"},
    {"leaves_again", "+ret (cheap)"},
    {"leaves_to_another", "+ret (cheap)"},
    {"leaves_behind_padding", "+ret (cheap)"},
};

class CheapExits : public KernelTest {
  protected:
    void observe(std::vector<std::string> arguments) {
        arguments.emplace_back("--wait");
        program_.emplace("epilogues", arguments);
        program_->wait_ready();
        session_.observe(program_->pid());
        must(session_.backend().set_way_out(WayOut::cheap));
    }
    std::string kind() const { return session_.report.places.at(0).kind; }

    std::optional<Program> program_;
    Session session_;
};

TEST_F(CheapExits, AreWhereNothingButTheRetCanFollow) {
    observe({"--calls", "2000"});
    std::map<std::string, ProbeId> probes;
    for (const auto& [name, kind] : kinds) {
        probes[name] = session_.time(name);
        EXPECT_TRUE(this->kind().ends_with(kind)) << name << ": " << this->kind();
    }
    program_->go();
    session_.pump_to_end();
    const nlohmann::json account = program_->account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    for (const auto& [name, probe] : probes) {
        const Calls calls = session_.calls(probe);
        EXPECT_EQ(calls.returns, account["functions"][name]["calls"].get<uint64_t>()) << name;
        EXPECT_EQ(calls.entries, calls.returns) << name;
    }
}

// The function is still there, and its caller behind it.
TEST_F(CheapExits, StacksOfSlowCallsAreWhole) {
    observe({"--function", "leaves_guarded", "--calls", "20"});
    session_.time("leaves_guarded", every_call);
    ASSERT_THAT(kind(), HasSubstr("(cheap)"));
    program_->go();
    session_.pump_to_end();
    session_.backend().settle_symbols(std::chrono::seconds(60));
    ASSERT_EQ(session_.log.slow_calls.size(), 20u);
    for (const SlowCall& call : session_.model().slow_calls()) {
        const std::vector<std::string> names = session_.stack_names(call.stack);
        ASSERT_GE(names.size(), 3u);
        EXPECT_EQ(names[0], "leaves_guarded");
        EXPECT_THAT(names, testing::Contains("main")) << testing::PrintToString(names);
    }
}

// Whose first jump leads out: they begin and end there.
TEST_F(CheapExits, AtTheEntryAreOfCallsThatTakeNoTime) {
    observe({"--function", "leaves_at_the_entry", "--calls", "80"});
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"arg0"};
    const ProbeId probe =
        session_.time("leaves_at_the_entry", {Threshold::Kind::fixed, 2, 0}, conditions);
    ASSERT_THAT(kind(), HasSubstr("(cheap)"));
    program_->go();
    session_.pump_to_end();
    EXPECT_EQ(session_.calls(probe).returns, 80u);
    std::vector<uint64_t> longer, expected;
    for (const auto& call : session_.log.slow_calls)
        longer.push_back(std::stoull(session_.log.value(call, "arg0")));
    for (uint64_t a = 0; a < 80; a++)
        if (a % 8 != 0)
            expected.push_back(a);
    EXPECT_EQ(longer, expected);
}

// Whichever way is in force: `auto` takes a return probe here, which sees them as well.
TEST_F(CheapExits, AtTheEntryAreCountedInEveryWay) {
    const std::pair<WayOut, const char*> ways[] = {{WayOut::automatic, "entry+trampoline"},
                                                   {WayOut::cheap, "entry+ret (1 of 2 cheap)"},
                                                   {WayOut::ret, "entry+ret"},
                                                   {WayOut::trampoline, "entry+trampoline"}};
    for (const auto& [way, kind] : ways) {
        Program program("short_calls", {"--calls", "2000", "--pause-us", "0", "--wait"});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        must(session.backend().set_way_out(way));
        const ProbeId probe = session.time("seldom");
        EXPECT_EQ(session.report.places.at(0).kind, kind);
        program.go();
        session.pump_to_end();
        const nlohmann::json account = program.account();
        EXPECT_TRUE(account["ok"].get<bool>()) << account;
        const Calls calls = session.calls(probe);
        EXPECT_EQ(calls.returns, account["functions"]["seldom"]["returns"].get<uint64_t>()) << kind;
        EXPECT_EQ(calls.entries, calls.returns) << kind;
    }
}

// What a probe costs at a jump that a call passes is taken out of its duration. The program's own
// clock tells what three of them cost. What auger takes a hit to cost may be off by half: see
// docs/concepts.md.
TEST_F(CheapExits, ThatArePassedAreInNoDuration) {
    Program program("passed_jumps", {"--calls", "500", "--pause-us", "0", "--wait"});
    program.wait_ready();
    session_.observe(program.pid());
    must(session_.backend().set_way_out(WayOut::cheap));
    const ProbeId first = session_.time("leaves_first"), last = session_.time("leaves_last");
    ASSERT_THAT(kind(), HasSubstr("(cheap)"));
    program.go();
    session_.pump_to_end();
    const nlohmann::json account = program.account();
    const auto median = [&](ProbeId probe, const char* name) {
        const CallStatistics calls = session_.model().probe_statistics(probe);
        EXPECT_EQ(calls.returns, account["functions"][name]["returns"].get<double>());
        return calls.durations.quantile(0.5);
    };
    const double passed = median(last, "leaves_last") - median(first, "leaves_first");
    const auto& per_call = account["ns_per_call"];
    const double cost =
        per_call["leaves_last"].get<double>() - per_call["leaves_first"].get<double>();
    EXPECT_GT(cost, 0);
    EXPECT_LT(std::abs(passed), cost / 2);
}

TEST_F(CheapExits, AtTheEntryAreFiltered) {
    observe({"--function", "leaves_at_the_entry", "--calls", "80"});
    CallConditions conditions;
    conditions.only_if = "arg0 % 16 == 0";
    const ProbeId probe = session_.time("leaves_at_the_entry", {}, conditions);
    ASSERT_THAT(kind(), HasSubstr("(cheap)"));
    program_->go();
    session_.pump_to_end();
    const Calls calls = session_.calls(probe);
    EXPECT_EQ(calls.returns, 5u);
    EXPECT_EQ(calls.filtered, 75u);
    EXPECT_TRUE(calls.add_up());
}

TEST_F(CheapExits, AreNotUsedWhereTheResultIsRead) {
    observe({"--function", "leaves_guarded", "--calls", "50"});
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"arg0", "arg1", "ret"};
    session_.time("leaves_guarded", every_call, conditions);
    EXPECT_THAT(kind(), Not(HasSubstr("cheap")));
    program_->go();
    session_.pump_to_end();
    ASSERT_EQ(session_.log.slow_calls.size(), 50u);
    for (const auto& call : session_.log.slow_calls)
        EXPECT_EQ(std::stoull(session_.log.value(call, "ret")),
                  3 * std::stoull(session_.log.value(call, "arg0")) +
                      std::stoull(session_.log.value(call, "arg1")));
}

// A line behind the place still marks the calls that come by. The other way does not: where `a` is
// odd.
TEST_F(CheapExits, AreNotUsedWhileLinesAreWatched) {
    observe({"--function", "leaves_either_way", "--calls", "1000"});
    const ProbeId probe = session_.time("leaves_either_way");
    EXPECT_THAT(kind(), HasSubstr("(cheap)"));
    SplitInfo split{true, probe, {}, false};
    split.branch = Branch::at_line(marked_line("epilogues_asm.S", "LAST LINE"));
    must(session_.backend().set_split(split));
    program_->go();
    session_.pump_to_end();
    const StreamLog::Marked counted = session_.log.marked[session_.log.split.branch_bit];
    EXPECT_EQ(counted.taken, 500u);
    EXPECT_EQ(counted.not_taken, 500u);
}

// Also one that is timed while they are.
TEST_F(CheapExits, OfNewProbesAreNotUsedEither) {
    observe({"--calls", "100"});
    SplitInfo split{true, session_.time("leaves_again"), {}, false};
    split.branch = Branch::at_line(marked_line("epilogues_asm.S", "LAST LINE"));
    must(session_.backend().set_split(split));
    session_.time("leaves_guarded");
    EXPECT_THAT(kind(), Not(HasSubstr("cheap")));
    must(session_.backend().set_split({}));
    session_.time("leaves_joined");
    EXPECT_THAT(kind(), HasSubstr("(cheap)"));
}

// From one kind to the other and back, while a million calls a second run.
TEST_F(CheapExits, TakeTurnsWithRets) {
    observe({"--function", "leaves_again", "--calls", "0", "--pause-us", "200"});
    const ProbeId probe = session_.time("leaves_again");
    const SpecId spec = session_.report.places.at(0).spec;
    program_->go();
    constexpr unsigned turns = 20;
    for (unsigned turn = 0; turn < turns; turn++) {
        CallConditions conditions;
        conditions.show_default = false;
        if (turn % 2 == 0)
            conditions.show = {"ret"};
        must(session_.backend().set_slow(probe, {Threshold::Kind::fixed, 1'000'000'000, 0},
                                         conditions));
        EXPECT_EQ(session_.model().specs()[spec.index()].way_out.text(),
                  turn % 2 == 0 ? "ret" : "ret (cheap)");
        const uint64_t before = session_.calls(probe).entries;
        ASSERT_TRUE(
            session_.pump_until([&] { return session_.calls(probe).entries > before + 100; }));
    }
    program_->signal(SIGTERM);
    session_.pump_to_end();
    const nlohmann::json account = program_->account();
    const Calls calls = session_.calls(probe);
    const auto own = account["functions"]["leaves_again"]["calls"].get<double>();
    // Both sets of entry probes stand on one instruction for a moment. A turn that falls between
    // their two programs, of the one call that the thread begins just then, has neither count it,
    // or both; the latter finds the call open already: unwound.
    EXPECT_NEAR(static_cast<double>(calls.entries), own, turns);
    EXPECT_LE(calls.unwound, turns);
    EXPECT_EQ(calls.returns + calls.unwound, calls.entries);
}

// What may take long or fault is neither before the entry's probe nor behind an exit's.
class FirstAndLast : public KernelTest {
  protected:
    Calls time(const char* function) {
        program_.wait_ready();
        session_.observe(program_.pid());
        must(session_.backend().set_way_out(WayOut::cheap));
        probe_ = session_.time(function);
        program_.go();
        session_.pump_to_end();
        account_ = program_.account();
        EXPECT_TRUE(account_["ok"].get<bool>()) << account_;
        return session_.calls(probe_);
    }

    Program program_{"first_and_last", {"--calls", "300", "--pause-us", "0", "--wait"}};
    Session session_;
    ProbeId probe_;
    nlohmann::json account_;
};

TEST_F(FirstAndLast, WorkOfTheFirstInstructionsIsInTheDuration) {
    EXPECT_EQ(time("fills_first").returns, 300u);
    EXPECT_GT(session_.model().probe_statistics(probe_).sum_ns,
              0.9 * account_["filled_ns"].get<double>());
}

TEST_F(FirstAndLast, CallsThatFaultBehindTheLastJumpHaveNotReturned) {
    const Calls calls = time("loads_last");
    EXPECT_EQ(calls.entries, 300u);
    EXPECT_EQ(calls.returns, account_["functions"]["loads_last"]["returns"].get<uint64_t>());
    EXPECT_EQ(calls.unwound, account_["functions"]["loads_last"]["unwound"].get<uint64_t>());
    EXPECT_EQ(calls.unwound, 100u);
}

} // namespace
} // namespace auger::test
