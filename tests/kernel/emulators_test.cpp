// SPDX-License-Identifier: GPL-3.0-or-later
// Probes and programs that run others by translating their code: Valgrind dies of SIGTRAP when it
// translates a breakpoint, and qemu-user's programs do.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sys/utsname.h>
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

// Each is told by what it maps first, before the program that it runs calls anything.
class LateEmulators : public KernelTest {
  protected:
    // `command` runs the program of the tests, which another process has probes in.
    void start_late(const std::string& command, std::vector<std::string> arguments,
                    const std::string& expected) {
        Program program("prologues",
                        {"--function", "starts_push", "--calls", "100000000", "--pause-us", "100"});
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        const ProbeId probe = session.time("starts_push");
        ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns > 100; }));
        for (const char* argument : {"--function", "starts_push", "--calls", "1000", "--wait"})
            arguments.push_back(argument);
        Program late(command, arguments);
        late.wait_ready();
        EXPECT_TRUE(session.pump_until([&] { return session.noticed("is no longer timed"); }));
        EXPECT_THAT(session.notice_with("starts_push is no longer timed"), HasSubstr(expected));
        late.go();
        EXPECT_TRUE(late.account()["ok"].get<bool>());
        EXPECT_EQ(late.wait_exit(), 0);
        program.signal(SIGTERM);
        session.pump_to_end();
        EXPECT_TRUE(program.account()["ok"].get<bool>());
        EXPECT_EQ(program.wait_exit(), 0);
    }
};

// It maps code as data, which is not told.
TEST_F(LateEmulators, QemuRunsNoProbes) {
    utsname machine{};
    uname(&machine);
    const std::string qemu = std::string("/usr/bin/qemu-") + machine.machine;
    if (access(qemu.c_str(), X_OK) != 0)
        GTEST_SKIP() << qemu << " is not installed (package qemu-user)";
    start_late(qemu, {program_path("prologues")},
               qemu + ", which maps the program that it runs as data");
}

// It is a library in the process that it translates, whose program was mapped before. A library of
// its name will do: that translates nothing.
TEST_F(LateEmulators, DynamoRioRunsNoProbes) {
    const TemporaryFolder folder;
    const std::string program_file = folder.path("late_library");
    std::filesystem::copy_file(program_path("late_library"), program_file);
    std::filesystem::copy_file(program_path("liblate_work.so"), folder.path("libdynamorio.so"));
    std::filesystem::create_symlink("libdynamorio.so", folder.path("liblate_work.so"));
    Program program(program_file, {"--wait"}); // has not loaded it yet
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("truth_more");
    Program late(program_file, {"--calls", "1", "--wait", "--step"});
    late.wait_ready();
    // That is seen to map the program, and to be no emulator.
    const uint64_t ready_ns = session.backend().now_ns();
    ASSERT_TRUE(session.pump_until([&] { return session.model().now_ns() > ready_ns; }));
    EXPECT_EQ(session.notice_with("no longer timed"), "");
    late.go();
    EXPECT_TRUE(session.pump_until([&] { return session.noticed("is no longer timed"); }));
    EXPECT_THAT(session.notice_with("truth_more is no longer timed"),
                HasSubstr("late_library under DynamoRIO, which would die of its probes"));
    late.go(); // it has the library until then
    EXPECT_EQ(late.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
