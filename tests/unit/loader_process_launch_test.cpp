// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/launch.h"
#include "loader/process/safe_open.h"
#include "loader/process/starter.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>

namespace auger {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

// Runs to the end and returns what it wrote to standard output.
std::string output_of(LaunchOptions options, ExitStatus* status = nullptr) {
    UniqueFd file(memfd_create("output", MFD_CLOEXEC));
    options.stdout_fd = file.get();
    auto process = LaunchedProcess::start(options);
    EXPECT_TRUE(process);
    const auto released = process->release();
    EXPECT_TRUE(released) << released.error().message();
    const auto ended = process->wait_exit(20s);
    EXPECT_TRUE(ended && *ended);
    if (status && ended && *ended)
        *status = **ended;
    return *read_all(file.get(), 1 << 20);
}

TEST(Launch, WaitsUntilItIsReleased) {
    UniqueFd file(memfd_create("output", MFD_CLOEXEC));
    LaunchOptions options{{"echo", "ran"}, {}};
    options.stdout_fd = file.get();
    auto process = LaunchedProcess::start(options);
    ASSERT_TRUE(process);
    // Still auger's own image: probes can be placed before the command's first instruction.
    EXPECT_EQ(*exe_path(process->pid()), *exe_path(getpid()));
    EXPECT_FALSE(*process->exit_status());
    ASSERT_TRUE(process->release());
    const auto ended = process->wait_exit(20s);
    ASSERT_TRUE(ended && *ended);
    EXPECT_EQ((**ended).value, 0);
    EXPECT_EQ(*read_all(file.get(), 100), "ran\n");
    EXPECT_FALSE(process->release());
}

TEST(Launch, ReportsExitCodeAndSignal) {
    ExitStatus status{};
    output_of({{"sh", "-c", "exit 42"}, {}}, &status);
    EXPECT_FALSE(status.signaled);
    EXPECT_EQ(status.value, 42);
    output_of({{"sh", "-c", "kill -KILL $$"}, {}}, &status);
    EXPECT_TRUE(status.signaled);
    EXPECT_EQ(status.value, SIGKILL);
}

TEST(Launch, FindsACommandOrSaysWhyNot) {
    const auto sh = find_command("sh");
    ASSERT_TRUE(sh);
    EXPECT_EQ(access(sh->c_str(), X_OK), 0);
    EXPECT_EQ(*find_command("/bin/sh"), "/bin/sh");
    EXPECT_EQ(find_command("no-such-program-of-ours").error().cause, "no such program");
    EXPECT_EQ(find_command("/etc/passwd").error().cause, "it is not executable");
    EXPECT_EQ(find_command("/tmp").error().cause, "it is a directory");
    EXPECT_EQ(find_command("").error().kind, Error::Kind::usage);
}

TEST(Launch, AnExecThatFailsIsAnErrorWithItsCause) {
    auto absent = LaunchedProcess::start({{"/no/such/command"}, {}});
    ASSERT_TRUE(absent);
    const auto released = absent->release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().message(), "start /no/such/command: No such file or directory");
    auto folder = LaunchedProcess::start({{"/etc"}, {}});
    ASSERT_TRUE(folder);
    EXPECT_EQ(folder->release().error().cause, "Permission denied");
    EXPECT_FALSE(LaunchedProcess::start({{}, {}}));
}

TEST(Launch, StandardInputIsEmptyAndTheGroupItsOwn) {
    EXPECT_EQ(output_of({{"cat"}, {}}), "");
    auto process = LaunchedProcess::start({{"sleep", "1000"}, {}});
    ASSERT_TRUE(process);
    EXPECT_EQ(getpgid(process->pid()), process->pid());
    LaunchOptions same{{"sleep", "1000"}, {}};
    same.own_process_group = false;
    auto other = LaunchedProcess::start(same);
    ASSERT_TRUE(other);
    EXPECT_EQ(getpgid(other->pid()), getpgrp());
}

TEST(Launch, SignalsBlockedInAugerAreNotInTheCommand) {
    sigset_t block, old;
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigprocmask(SIG_BLOCK, &block, &old);
    const auto before = signal(SIGPIPE, SIG_IGN);
    const std::string status = output_of({{"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"}, {}});
    signal(SIGPIPE, before);
    sigprocmask(SIG_SETMASK, &old, nullptr);
    EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Launch, AChildThatIsNotReleasedDoesNotOutliveItsHandle) {
    pid_t pid = 0;
    {
        auto process = LaunchedProcess::start({{"sleep", "1000"}, {}});
        ASSERT_TRUE(process);
        pid = process->pid();
    }
    EXPECT_EQ(kill(pid, 0), -1);
}

TEST(Launch, TheDestructorFollowsThePolicy) {
    for (const bool terminate : {false, true}) {
        pid_t pid = 0;
        {
            LaunchOptions options{{"sleep", "1000"}, {}};
            options.terminate_on_exit = terminate;
            auto process = LaunchedProcess::start(options);
            ASSERT_TRUE(process);
            ASSERT_TRUE(process->release());
            pid = process->pid();
        }
        if (!terminate) {
            EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0); // runs on
            kill(pid, SIGKILL);
        }
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(WTERMSIG(status), terminate ? SIGTERM : SIGKILL);
    }
}

std::unique_ptr<Starter> starter_of(const std::optional<InvokingUser>& user = {}) {
    auto starter = Starter::start(user);
    EXPECT_TRUE(starter);
    return std::move(*starter);
}

// All is as without the process in between.
TEST(Launch, AStartersCommandIsOurChild) {
    const auto starter = starter_of();
    LaunchOptions options{{"sh", "-c", "echo $PPID; cat; exit 3"}, {}};
    options.starter = starter.get();
    ExitStatus status{};
    EXPECT_EQ(output_of(options, &status), std::to_string(getpid()) + "\n");
    EXPECT_EQ(status.value, 3);
    options.arguments = {"/no/such/command"};
    auto absent = LaunchedProcess::start(options);
    ASSERT_TRUE(absent);
    EXPECT_EQ(absent->release().error().message(),
              "start /no/such/command: No such file or directory");
    options.arguments = {"sleep", "1000"};
    pid_t pid = 0;
    {
        auto process = LaunchedProcess::start(options);
        ASSERT_TRUE(process);
        pid = process->pid();
        EXPECT_EQ(getpgid(pid), pid);
        EXPECT_EQ(*exe_path(pid), *exe_path(getpid()));
    }
    EXPECT_EQ(kill(pid, 0), -1);
}

TEST(Launch, AStarterIsTheInvokingUser) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const InvokingUser daemon{1, 1, "daemon", "/usr/sbin"};
    const auto starter = starter_of(daemon);
    LaunchOptions options{{"sh", "-c", "id -u; id -g; id -G; echo $HOME"}, daemon};
    options.starter = starter.get();
    EXPECT_EQ(output_of(options), "1\n1\n1\n/usr/sbin\n");
    options.arguments = {"sleep", "1000"};
    auto process = LaunchedProcess::start(options);
    ASSERT_TRUE(process);
    // Before it is let go, too.
    EXPECT_EQ(uid_of(process->pid()).value(), 1u);
}

TEST(Launch, AStarterThatIsGoneIsAnError) {
    const auto starter = starter_of();
    kill(starter->pid(), SIGKILL);
    LaunchOptions options{{"true"}, {}};
    options.starter = starter.get();
    const auto process = LaunchedProcess::start(options);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().message(), "start true: the process that starts commands is gone");
}

TEST(Launch, DropsToTheInvokingUser) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    LaunchOptions options{{"sh", "-c", "id -u; id -g; id -G; echo $HOME"}, {}};
    options.user = InvokingUser{1, 1, "daemon", "/usr/sbin"};
    EXPECT_EQ(output_of(options), "1\n1\n1\n/usr/sbin\n");
}

} // namespace
} // namespace auger
