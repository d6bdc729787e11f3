// SPDX-License-Identifier: GPL-3.0-or-later
// Probes and programs that run others by translating their code, by the one of them that everybody
// has: Valgrind dies of SIGTRAP when it translates a breakpoint.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <unistd.h>

namespace auger::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Emulators : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (access(valgrind, X_OK) != 0)
            GTEST_SKIP() << "valgrind is not installed";
    }
    // The program that the tests time, under Valgrind.
    static std::vector<std::string> emulated(std::vector<std::string> arguments) {
        std::vector<std::string> all{"-q", "--tool=none", program_path("prologues"), "--function",
                                     "starts_push"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return all;
    }
    static constexpr const char* valgrind = "/usr/bin/valgrind";
};

TEST_F(Emulators, AreNotTimed) {
    Program program(valgrind, emulated({"--calls", "100", "--wait"}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    for (const char* probe : {"starts_push", "libc:malloc"}) {
        auto refused = session.try_time(probe);
        ASSERT_FALSE(refused) << probe;
        EXPECT_THAT(refused.error().message(),
                    AllOf(HasSubstr("runs under Valgrind (none)"), HasSubstr("dies of probes")));
    }
    session.sample(99); // does no harm
    program.go();
    session.pump_to_end();
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
}

// Its file is probed for every process, so a stranger's emulator would run into the probes.
TEST_F(Emulators, OfStrangersKeepTheirProgramsFromBeingTimed) {
    Program stranger(valgrind, emulated({"--calls", "100", "--wait"}));
    stranger.wait_ready();
    Program program("prologues", {"--function", "starts_push", "--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    auto refused = session.try_time("starts_push");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("has that file mapped, too, under Valgrind"));
    // The C library is probed in the target's processes only, since others map it.
    session.time("libc:clock_nanosleep");
    stranger.go();
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(stranger.account()["ok"].get<bool>());
    EXPECT_EQ(stranger.wait_exit(), 0);
}

// One that starts later has the probed file in its hands long before it translates a function of
// it.
TEST_F(Emulators, ThatStartLaterFindNoProbes) {
    Program program("prologues",
                    {"--function", "starts_push", "--calls", "100000000", "--pause-us", "100"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("starts_push");
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns > 100; }));

    Program late(valgrind, emulated({"--calls", "1000"}));
    EXPECT_TRUE(session.pump_until(
        [&] { return session.noticed("starts_push is no longer timed: process"); }));
    EXPECT_TRUE(session.noticed("under Valgrind (none), which would die of its probes"));
    EXPECT_TRUE(late.account()["ok"].get<bool>());
    EXPECT_EQ(late.wait_exit(), 0);

    // The call that was open when the probes went has no end.
    const Calls calls = session.calls(probe);
    EXPECT_LE(calls.open, 1);
    EXPECT_TRUE(calls.add_up());
    program.signal(SIGTERM);
    session.pump_to_end();
    EXPECT_TRUE(program.account()["ok"].get<bool>());
    EXPECT_EQ(program.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
