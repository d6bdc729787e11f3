// SPDX-License-Identifier: GPL-3.0-or-later
// `exit auto`: chooses the cheap way out only where nothing can unwind or swap stacks, says why,
// and leaves it when that is no longer so, without losing a call.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <map>

namespace auger::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class ExitAuto : public KernelTest {};

bool stacks_are_whole_under_return_probes() {
    return Features::detect().stacks_under_return;
}

// Linux 6.13 on.
bool return_probes_can_be_chosen() {
    return stacks_are_whole_under_return_probes() && Features::detect().uprobe_session;
}

TEST_F(ExitAuto, ChoosesReturnProbesWhereNothingUnwindsAndStays) {
    if (!return_probes_can_be_chosen())
        GTEST_SKIP() << "never chosen here: this kernel has no session links";
    Program program("prologues", {"--function", "starts_push", "--calls", "20000", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("starts_push");
    EXPECT_TRUE(session.report.places.at(0).kind.ends_with("+trampoline"));
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("because")));
    std::vector<uint64_t> links = session.backend().links();
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_EQ(session.calls(probe).entries, 20'000u);
    EXPECT_EQ(session.calls(probe).returns, 20'000u);
    EXPECT_EQ(session.backend().links(), links);
    EXPECT_EQ(session.notice_with("exit instructions"), "");
}

TEST_F(ExitAuto, ProbesExitInstructionsWhereReturnProbesBreakStacks) {
    if (stacks_are_whole_under_return_probes())
        GTEST_SKIP() << "this kernel repairs them";
    Program program("prologues", {"--function", "starts_push", "--calls", "1000", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("starts_push");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("breaks stacks")));
    // Whoever wants them all the same is told.
    must(session.backend().set_way_out(WayOut::trampoline));
    session.time("starts_push");
    EXPECT_TRUE(session.report.places.at(0).kind.ends_with("+trampoline"));
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("stacks show it in place of")));
}

TEST_F(ExitAuto, ProbesExitInstructionsWhereSomethingMayUnwind) {
    for (const auto& [name, function] : std::map<std::string, std::string>{
             {"exceptions", "thrower"}, {"longjmps", "jumper"}, {"coroutines", "coro_body"}}) {
        SCOPED_TRACE(name);
        Program program(name, {"--calls", "50", "--wait"});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        ProbeId probe = session.time(function);
        EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
        EXPECT_THAT(session.report.notes, Contains(HasSubstr("because")));
        program.go();
        session.pump_to_end();
        nlohmann::json truth = program.account();
        EXPECT_EQ(program.wait_exit(), 0);
        EXPECT_EQ(session.calls(probe).entries,
                  truth["functions"][function]["entries"].get<uint64_t>());
    }
}

// Programs that leave their stacks with a timed function open on it, by a switch that no symbol
// tells of. Return probes kill every one of them (`exit trampoline`: SIGILL or SIGSEGV).
struct Switch {
    const char* program;
    const char* reason; // why it is not trusted
};

class Switches : public KernelTest, public testing::WithParamInterface<Switch> {};

TEST_P(Switches, LiveUnderTheDefault) {
    const Switch& expected = GetParam();
    Program program(expected.program, {"--calls", "50", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("coro_step");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    if (stacks_are_whole_under_return_probes()) {
        EXPECT_THAT(session.report.notes,
                    Contains(AllOf(HasSubstr("exit probes: exit instructions, because"),
                                   HasSubstr(expected.reason))));
    }
    program.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(truth["ok"].get<bool>());
    const nlohmann::json& function = truth["functions"]["coro_step"];
    const Calls calls = session.calls(probe);
    EXPECT_EQ(calls.entries, function["entries"].get<uint64_t>());
    EXPECT_EQ(calls.returns, function["returns"].get<uint64_t>());
    EXPECT_EQ(calls.entries, 50u * 5 * 3);
    EXPECT_TRUE(calls.add_up());
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, Switches,
    testing::Values(Switch{"switches_mov", "loads the stack pointer in switch_stack"},
                    Switch{"switches_xchg", "loads the stack pointer in switch_stack"},
                    Switch{"switches_pop", "loads the stack pointer in switch_stack"},
                    Switch{"switches_load", "loads the stack pointer in switch_stack"},
                    Switch{"switches_lea", "loads the stack pointer in switch_stack"},
                    Switch{"switches_add", "loads the stack pointer in switch_stack"},
                    Switch{"switches_frame", "loads the stack pointer in switch_stack"},
                    Switch{"switches_jump", "loads the stack pointer in switch_stack"},
                    // All of the C library is in it.
                    Switch{"switches_mov_static", "switches_mov_static"},
                    Switch{"switches_jit",
                           "switches_jit uses m"}, // mmap or mprotect, whichever is first
                    Switch{"switches_dlsym", "switches_dlsym uses dlsym"},
                    Switch{"switches_signal", "switches_signal uses sigaction"},
                    Switch{"switches_late", "switches_late uses dl"}), // dlopen or dlsym
    [](const auto& info) { return std::string(info.param.program + sizeof "switches"); });

// The same without symbols: it is timed by its address then.
TEST_F(ExitAuto, ReadsCodeWithoutSymbols) {
    if (!stacks_are_whole_under_return_probes())
        GTEST_SKIP() << "this kernel breaks stacks under return probes";
    Program program("switches_mov_stripped", {"--calls", "50", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("libc:clock_nanosleep");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("loads the stack pointer at 0x")));
    program.go();
    session.pump_to_end();
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
}

// Where a function of unknown size ends tell its own jumps, not the next symbol.
TEST_F(ExitAuto, PutsNoBreakpointIntoData) {
    Program program("data_in_text", {"--calls", "200", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_way_out(WayOut::ret));
    ProbeId probe = session.time("looks_up");
    auto refused = session.try_time("jumps_over_data");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("data lies between its instructions"));
    program.go();
    session.pump_to_end();
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_EQ(session.calls(probe).entries, 200u);
    EXPECT_EQ(session.calls(probe).returns, 200u);
}

// What a program maps depends on how it is started.
TEST_F(ExitAuto, ProvesNothingOfAProgramThatDoesNotRunYet) {
    if (!stacks_are_whole_under_return_probes())
        GTEST_SKIP() << "this kernel breaks stacks under return probes";
    Session session;
    TargetSpec target;
    target.kind = TargetSpec::Kind::command;
    target.command = {program_path("prologues"), "--function", "starts_push", "--calls", "1000"};
    session.observe(target);
    ProbeId probe = session.time("starts_push");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    EXPECT_THAT(session.report.notes, Contains(HasSubstr("before it runs")));
    must(session.backend().start_command());
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, 1'000u);
}

// A process with exceptions joins the target while a function is called without pause.
TEST_F(ExitAuto, FallsBackWithoutLosingCalls) {
    if (!return_probes_can_be_chosen())
        GTEST_SKIP() << "never chosen here: this kernel has no session links";
    Program program("prologues", {"--function", "starts_push", "--calls", "100000000", "--pause-us",
                                  "0", "--wait"});
    Program thrower("exceptions", {"--calls", "100", "--wait"});
    program.wait_ready();
    thrower.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("starts_push");
    ASSERT_TRUE(session.report.places.at(0).kind.ends_with("+trampoline"));
    const SpecId spec = session.report.places.at(0).spec;
    const auto exit = [&] { return session.model().specs()[spec.index()].way_out.text(); };
    EXPECT_EQ(exit(), "trampoline");
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns > 10'000; }));
    EXPECT_EQ(session.notice_with("exit instructions"), "");

    session.observe({program.pid(), thrower.pid()});
    EXPECT_TRUE(session.noticed("exit instructions instead of the uretprobe, because"));
    EXPECT_EQ(exit(), "ret");
    Calls before = session.calls(probe);
    ASSERT_TRUE(
        session.pump_until([&] { return session.calls(probe).returns > before.returns + 10'000; }));
    thrower.go();
    program.signal(SIGTERM);
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_EQ(thrower.wait_exit(), 0);
    EXPECT_TRUE(truth["ok"].get<bool>());
    // At most the one call during which the probes changed, whose two entry probes may both count,
    // or neither.
    Calls calls = session.calls(probe);
    EXPECT_NEAR(static_cast<double>(calls.entries),
                truth["functions"]["starts_push"]["calls"].get<double>(), 1);
    EXPECT_LE(calls.unwound, 1u);
    EXPECT_EQ(calls.open, 0);
    EXPECT_TRUE(calls.add_up());
}

// A return probe that is no session's would be in every process that runs the program.
TEST_F(ExitAuto, WithoutSessionsProbesExitInstructionsOfPrograms) {
    Program program("prologues", {"--function", "starts_push", "--calls", "1000", "--wait"});
    program.wait_ready();
    Session session({LiveOptions::Attach::perf});
    session.observe(program.pid());
    session.time("starts_push");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    if (stacks_are_whole_under_return_probes()) {
        EXPECT_THAT(session.report.notes, Contains(HasSubstr("of which nothing is known")));
    }
}

// Whoever comes under the name is a target before anybody has read what it maps.
TEST_F(ExitAuto, ProbesExitInstructionsOfWhoComesByName) {
    Program program("prologues", {"--function", "starts_push", "--calls", "1000", "--wait"});
    program.wait_ready();
    TargetSpec target;
    target.kind = TargetSpec::Kind::name;
    target.name = "prologues";
    Session session;
    session.observe(target);
    session.time("starts_push");
    EXPECT_THAT(session.report.places.at(0).kind, HasSubstr("+ret"));
    if (stacks_are_whole_under_return_probes()) {
        EXPECT_THAT(session.report.notes, Contains(HasSubstr("under the name")));
    }
}

} // namespace
} // namespace auger::test
