// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process can still do, and what becomes of it.
#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <set>

namespace auger {
namespace {

// Generous; nothing here waits for it when all is well.
GoOn patient() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    return [end] { return std::chrono::steady_clock::now() < end; };
}

std::string ask(const ConfinedProcess& process) {
    if (!send_message(process.socket(), "?"))
        return "not to be told";
    const auto answer = receive_message(process.socket(), 4096, patient());
    return answer ? answer->bytes : "gone";
}

Result<std::unique_ptr<ConfinedProcesses>> start() {
    return ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}, false});
}

TEST(ConfinedProcess, HasNoRights) {
    const UniqueFd secret(open("/etc/passwd", O_RDONLY)); // not close-on-exec: forks inherit it
    const auto processes = start();
    ASSERT_TRUE(processes) << processes.error().message();
    auto process = (*processes)->make("try");
    ASSERT_TRUE(process) << process.error().message();
    EXPECT_EQ(ask(*process), "");
}

// What fetches debug information: with the network and its cache, and nothing else.
TEST(ConfinedProcess, WithANetworkItHasItsFilesOnly) {
    const UniqueFd secret(open("/etc/passwd", O_RDONLY));
    const test::TemporaryFolder folder;
    const auto processes =
        ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}, true});
    ASSERT_TRUE(processes) << processes.error().message();
    auto process = (*processes)->make("network");
    ASSERT_TRUE(process) << process.error().message();
    const std::string cache = folder.path("cache");
    std::filesystem::create_directory(cache);
    ASSERT_TRUE(send_message(process->socket(), cache));
    const auto answer = receive_message(process->socket(), 4096, patient());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->bytes, "");
}

// Who makes one of them tell where things lie knows nothing of the next one's memory, nor of ours.
TEST(ConfinedProcess, EachHasALayoutOfItsOwn) {
    const auto processes = start();
    ASSERT_TRUE(processes);
    std::set<std::string> layouts;
    for (int i = 0; i < 4; i++) {
        const auto process = (*processes)->make("layout");
        ASSERT_TRUE(process);
        const std::string layout = ask(*process);
        ASSERT_EQ(layout.size(), 3 * sizeof(uint64_t));
        for (size_t at = 0; at < layout.size(); at += sizeof(uint64_t))
            layouts.insert(layout.substr(at, sizeof(uint64_t)));
    }
    EXPECT_EQ(layouts.size(), 12u); // 28 bits of each are random
}

TEST(ConfinedProcess, OneThatCrashesIsGoneAndTheNextOneComes) {
    const auto processes = start();
    ASSERT_TRUE(processes);
    for (int i = 0; i < 3; i++) {
        const auto process = (*processes)->make("crash");
        ASSERT_TRUE(process);
        EXPECT_EQ(ask(*process), "gone");
    }
}

bool exists(const std::string& pid) {
    return std::filesystem::exists("/proc/" + pid);
}

TEST(ConfinedProcess, ALauncherThatWasKilledIsStartedAgain) {
    const auto processes = start();
    ASSERT_TRUE(processes);
    const pid_t first = (*processes)->pid();
    ASSERT_EQ(kill(first, SIGKILL), 0);
    for (int i = 0; i < 2; i++) {
        const auto process = (*processes)->make("try");
        ASSERT_TRUE(process) << process.error().message();
        EXPECT_EQ(ask(*process), "");
    }
    EXPECT_NE((*processes)->pid(), first);
}

TEST(ConfinedProcess, EndsWithWhatItBelongsTo) {
    auto processes = start();
    ASSERT_TRUE(processes);
    auto process = (*processes)->make("hang");
    ASSERT_TRUE(process);
    const auto pid = receive_message(process->socket(), 16, patient());
    ASSERT_TRUE(pid);
    EXPECT_TRUE(exists(pid->bytes));
    processes->reset(); // waits for all
    EXPECT_FALSE(exists(pid->bytes));
    EXPECT_EQ(ask(*process), "not to be told");
}

// As a command does that auger has forked and not yet let go: it has all descriptors until it
// executes its program.
TEST(ConfinedProcess, EndsThoughAnotherProcessHasItsSocket) {
    auto processes = start();
    ASSERT_TRUE(processes);
    const pid_t holder = fork();
    if (holder == 0) {
        for (;;)
            pause();
    }
    processes->reset(); // waits for it: for ever, if it does not end
    kill(holder, SIGKILL);
    EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
}

TEST(ConfinedProcess, WhatIsNotThereIsTold) {
    const auto none = ConfinedProcesses::start({"/no/such/auger-reader", {}});
    ASSERT_FALSE(none);
    EXPECT_EQ(
        none.error().message(),
        "start /no/such/auger-reader: No such file or directory (it reads files for auger and "
        "is installed with it; install it again)");
    const auto processes = start();
    ASSERT_TRUE(processes);
    const auto process = (*processes)->make("no-such-service");
    ASSERT_TRUE(process);
    const std::string answer = ask(*process); // it may have ended before it was asked
    EXPECT_TRUE(answer == "gone" || answer == "not to be told") << answer;
}

TEST(Message, WhatIsTooLongOrCutIsRefused) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    UniqueFd ours(ends[0]), theirs(ends[1]);
    const int descriptors[] = {STDIN_FILENO};
    ASSERT_TRUE(send_message(theirs.get(), "four", descriptors));
    const auto whole = receive_message(ours.get(), 4, patient());
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->bytes, "four");
    EXPECT_EQ(whole->descriptors.size(), 1u);
    ASSERT_TRUE(send_message(theirs.get(), "fives"));
    EXPECT_FALSE(receive_message(ours.get(), 4, patient()));
    theirs.reset();
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    const uint32_t promised = 100;
    ASSERT_EQ(send(theirs.get(), &promised, sizeof promised, 0), 4);
    ASSERT_EQ(send(theirs.get(), "less", 4, 0), 4);
    EXPECT_FALSE(receive_message(ours.get(), 1000, [] { return false; })); // it waits no longer
    theirs.reset();
    EXPECT_FALSE(receive_message(ours.get(), 1000, patient()));
}

} // namespace
} // namespace auger
