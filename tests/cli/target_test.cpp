// SPDX-License-Identifier: GPL-3.0-or-later
// Targets and functions that are not there, and commands that cannot be started or end at once.
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/support/children.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>

namespace auger::test {
namespace {

using testing::HasSubstr;

class Target : public KernelTest {
  protected:
    TemporaryFolder folder_;
};

TEST_F(Target, AProcessThatIsNotThere) {
    Program ended("demo_service", {"--calls", "1"});
    ended.account();
    ASSERT_EQ(ended.wait_exit(), 0);
    const std::string pid = std::to_string(ended.pid());
    const Outcome outcome = auger({"--batch", "-p", pid, "-e", "echo never"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("observe process " + pid + ": there is no such process"));
    EXPECT_THAT(outcome.err, HasSubstr("`ps -e` lists them"));
}

// Nobody would notice that it waits for ever; a script that means to wait says so.
TEST_F(Target, ANameThatNoProcessHas) {
    const Outcome option = auger({"--batch", "-n", "no-such-name", "-e", "echo never"});
    EXPECT_EQ(option.code, 1);
    EXPECT_THAT(option.out, testing::Not(HasSubstr("never")));
    EXPECT_THAT(option.err, HasSubstr("no-such-name: no process of that name is running"));
    EXPECT_THAT(option.err, HasSubstr("start it first"));
    const Outcome command = auger({"--batch", "-e", "target no-such-name; echo goes on"});
    EXPECT_EQ(command.code, 0);
    EXPECT_THAT(command.out,
                HasSubstr("no process named no-such-name is running; those that start will be"));
    EXPECT_THAT(command.out, HasSubstr("goes on\n"));
}

// As a server that has its workers before anybody looks at it.
TEST_F(Target, ChildrenThatRunAlready) {
    Program parent("/bin/sh",
                   {"-c", "'" + program_path("demo_service") + "' --seconds 300 & wait"});
    std::vector<pid_t> children;
    ASSERT_TRUE(wait_until([&] { return !(children = children_of(parent.pid())).empty(); }));
    const std::string pid = std::to_string(parent.pid());
    const std::string work = "time handle_request; wait until calls handle_request > 5 for 30s";
    const Outcome without = auger({"--batch", "-p", pid});
    EXPECT_EQ(without.code, 0);
    EXPECT_THAT(without.out, HasSubstr("1 running child is left out: \"target -p " + pid +
                                       " --tree\" takes them, too"));
    const Outcome with = auger({"--batch", "-p", pid, "--tree", "-e", work});
    EXPECT_EQ(with.code, 0) << with.err;
    EXPECT_THAT(with.out, HasSubstr("target: process " + pid + " and all children"));
    EXPECT_THAT(with.out, testing::Not(HasSubstr("left out")));
    for (const pid_t child : children)
        kill(child, SIGKILL);
}

TEST_F(Target, FunctionsThatAreNotThere) {
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"handle_reqest", "did you mean handle_request"}, // mistyped
        {"handle", "did you mean handle_request"},        // a part of it
        {"libc:recvv", "did you mean"},
        {"zzzzzzzzzzzz", "no such function"},
    };
    std::vector<std::string> arguments{"--batch", "--keep-going", "-p", std::to_string(demo.pid())};
    for (const auto& [function, said] : wrong)
        arguments.insert(arguments.end(), {"-e", "time " + function});
    const Outcome outcome = auger(arguments);
    EXPECT_EQ(outcome.code, 1);
    for (const auto& [function, said] : wrong) {
        const size_t at = outcome.err.find("    time " + function + "\n         ^~~");
        ASSERT_NE(at, std::string::npos) << outcome.err;
        const size_t begin = outcome.err.rfind("-e:1:6: error: ", at);
        const size_t end = std::min(outcome.err.find("-e:1", at), outcome.err.size());
        EXPECT_THAT(outcome.err.substr(begin, end - begin), HasSubstr(said));
    }
    demo.signal(SIGTERM);
    EXPECT_TRUE(demo.account()["ok"].get<bool>());
}

TEST_F(Target, CommandsThatCannotBeStarted) {
    const std::string text = folder_.file("text", "no program");
    const std::string garbage = folder_.file("garbage", "no program");
    ASSERT_EQ(chmod(garbage.c_str(), 0755), 0);
    for (const auto& [command, said] : std::vector<std::pair<std::string, std::string>>{
             {"/nonexistent/program", "no such program"},
             {"no-such-program-anywhere", "check the name and PATH"},
             {text, "it is not executable"},
             {folder_.path(""), "it is a directory"},
             {garbage, "Exec format error"}}) {
        const Outcome outcome = auger({"--batch", "--", command, "argument"});
        EXPECT_EQ(outcome.code, 1) << command;
        EXPECT_THAT(outcome.err, HasSubstr("error: start " + command + ": "));
        EXPECT_THAT(outcome.err, HasSubstr(said));
    }
}

TEST_F(Target, ACommandThatCannotBeStartedIsAnErrorInJsonToo) {
    const std::string garbage = folder_.file("garbage", "no program");
    ASSERT_EQ(chmod(garbage.c_str(), 0755), 0);
    const Outcome outcome = auger({"--json", "--batch", "--", garbage});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(std::string(json_lines(outcome.out).back().at("error").at("message")),
                HasSubstr("Exec format error"));
}

// What a command did is its own matter: auger tells it and has done its work.
// The command is there, waiting for its first instruction, when auger gives up: line information
// has been read by then, in a process that must end, too.
TEST_F(Target, ACommandThatIsNeverLetGoHoldsNobody) {
    const Outcome outcome =
        auger({"--batch", "-e", "time handle_request; split handle_request at quota.cpp:60; bogus",
               "--", program_path("demo_service"), "--calls", "1"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("bogus"));
    EXPECT_THAT(outcome.out, testing::Not(HasSubstr("ready"))); // of the command
}

TEST_F(Target, CommandsThatEndAtOnce) {
    for (const auto& [command, said] : std::vector<std::pair<std::string, std::string>>{
             {"exit 0", "exit code 0"}, {"exit 7", "exit code 7"}, {"kill -9 $$", "signal 9"}}) {
        const Outcome outcome =
            auger({"--batch", "-e", "sample 999", "-e", "status", "--", "/bin/sh", "-c", command});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_THAT(outcome.out, HasSubstr(said));
        EXPECT_THAT(outcome.err, HasSubstr(said));
    }
}

TEST_F(Target, ACommandsOutputIsItsOwnAndItsInputEmpty) {
    const Outcome outcome = auger({"--batch", "--", "/bin/sh", "-c", "cat; echo out; echo err >&2"},
                                  {.input = "echo never\n"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("out\n"));
    EXPECT_THAT(outcome.err, HasSubstr("err\n"));
    EXPECT_THAT(outcome.out, testing::Not(HasSubstr("never")));
}

} // namespace
} // namespace auger::test
