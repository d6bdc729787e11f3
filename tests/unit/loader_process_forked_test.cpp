// SPDX-License-Identifier: GPL-3.0-or-later
// Work in a forked copy of the process: what it sees, what it must not hold, and how it ends.
#include "loader/process/capabilities.h"
#include "loader/process/forked_task.h"
#include "loader/process/safe_open.h"
#include "tests/support/invoking_user.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace auger {
namespace {

using testing::HasSubstr;

Result<void> write_text(int out, std::string_view text) {
    return ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size())
               ? Result<void>()
               : system_error("write", "result");
}

std::string text_of(const Result<UniqueFd>& file) {
    if (!file)
        return "error: " + file.error().message();
    auto text = read_all(file.value().get(), 1 << 20);
    return text ? *text : "unreadable";
}

TEST(ForkedTask, SeesTheProcessAsItWas) {
    std::string state = "before";
    auto task = ForkedTask::start("test", [&](int out) { return write_text(out, state); });
    state = "after";
    ASSERT_TRUE(task);
    EXPECT_EQ(text_of(task->take()), "before");
}

TEST(ForkedTask, EndsWhenItsWorkDoes) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), 0), 0);
    // A child that held the writing end would keep the pipe open. It lives until it is killed.
    auto task = ForkedTask::start("test", [](int) -> Result<void> {
        for (;;)
            pause();
    });
    ASSERT_TRUE(task);
    EXPECT_FALSE(task->ended());
    close(ends[1]);
    pollfd hung_up{ends[0], POLLIN, 0};
    EXPECT_EQ(poll(&hung_up, 1, 60'000), 1) << "the child holds our descriptors";
    close(ends[0]);
}

// systemd stops a service by SIGTERM to all of its processes, and what is being written then is to
// be whole.
TEST(ForkedTask, GoesOnWhenAllAreToldToEnd) {
    auto task = ForkedTask::start("test", [](int out) {
        for (const int signal : {SIGTERM, SIGHUP, SIGINT})
            raise(signal);
        return write_text(out, "whole");
    });
    ASSERT_TRUE(task);
    EXPECT_EQ(text_of(task->take()), "whole");
}

TEST(ForkedTask, SaysWhatFailed) {
    auto failed = ForkedTask::start("test", [](int out) -> Result<void> {
        (void)!::write(out, "half", 4);
        return Error{"write", "profile.html", "No space left on device", ""};
    });
    ASSERT_TRUE(failed);
    EXPECT_EQ(text_of(failed->take()), "error: write profile.html: No space left on device");
    auto killed = ForkedTask::start("test", [](int) -> Result<void> {
        raise(SIGKILL);
        return {};
    });
    ASSERT_TRUE(killed);
    EXPECT_THAT(text_of(killed->take()), HasSubstr("ended by Killed"));
}

TEST(ForkedTask, WritesNoMoreThanItMay) {
    auto task = ForkedTask::start("test",
                                  [](int out) -> Result<void> {
                                      const std::string piece(64 << 10, 'x');
                                      for (;;) {
                                          if (auto written = write_text(out, piece); !written)
                                              return written;
                                      }
                                  },
                                  {256 << 10, 60});
    ASSERT_TRUE(task);
    EXPECT_THAT(text_of(task->take()), HasSubstr("File too large"));
}

// What it may still do, as it sees it.
std::string rights_of_task(const ForkedLimits& limits) {
    const auto tell = [](int out) {
        const bool opens = UniqueFd(open("/etc/passwd", O_RDONLY)).get() >= 0;
        return write_text(out, std::to_string(permitted_capabilities()) + " " +
                                   std::to_string(effective_capabilities()) + " user " +
                                   std::to_string(geteuid()) + (opens ? " opens" : ""));
    };
    auto task = ForkedTask::start("test", tell, limits);
    return task ? text_of(task->take()) : task.error().message();
}

TEST(ForkedTask, HasNoRights) {
    const std::string user = std::to_string(geteuid());
    EXPECT_EQ(rights_of_task({}), "0 0 user " + user);
    const CapabilitySet root = permitted_capabilities() & capability(CAP_DAC_OVERRIDE);
    EXPECT_EQ(rights_of_task({.makes_files = true}),
              std::to_string(root) + " 0 user " + user + " opens");
}

TEST(ForkedTask, IsTheInvokingUsers) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const test::AsCalledBySudo nobody("nobody");
    const std::string user = std::to_string(nobody.uid);
    EXPECT_EQ(rights_of_task({}), "0 0 user " + user);
    EXPECT_EQ(rights_of_task({.makes_files = true}), "0 0 user " + user + " opens");
}

TEST(ForkedTask, EndsWithTheProcess) {
    struct Shared {
        std::atomic<pid_t> task;
        std::atomic<bool> stop;
    };
    auto* shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(shared, MAP_FAILED);
    const pid_t parent = fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        auto task = ForkedTask::start("test", [&](int) -> Result<void> {
            shared->task = getpid();
            for (;;)
                pause();
        });
        while (!shared->task)
            usleep(1000);
        raise(SIGKILL);
        _exit(1);
    }
    ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto is_gone = [&] {
        // Whoever collects it is not ours, so it may stay as a zombie.
        auto status = read_file("/proc/" + std::to_string(shared->task) + "/stat", 4096);
        return !status || status->find(") Z") != std::string::npos;
    };
    while (!is_gone() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(is_gone());
    munmap(shared, sizeof(Shared));
}

} // namespace
} // namespace auger
