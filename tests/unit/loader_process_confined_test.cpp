// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process can still do, and what becomes of it.
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

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

// What should not have worked, a word each.
void try_everything(int socket) {
    receive_message(socket, 16);
    std::string done;
    const auto note = [&](bool worked, const char* what) {
        if (worked)
            done += std::string(what) + " ";
    };
    note(getuid() == 0 || geteuid() == 0, "root");
    note(setuid(0) == 0, "setuid");
    note(open("/etc/passwd", O_RDONLY) >= 0, "open");
    note(open("/tmp/auger-confined", O_CREAT | O_WRONLY, 0600) >= 0, "create");
    note(kill(getppid(), 0) == 0, "signal");
    note(fork() >= 0, "fork");
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(9);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int network = ::socket(AF_INET, SOCK_DGRAM, 0);
    note(network >= 0 && connect(network, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0,
         "network");
    close(network);
    for (int fd = 0; fd < 1024; fd++)
        note(fd > STDERR_FILENO && fd != socket && fcntl(fd, F_GETFD) >= 0, "descriptor");
    send_message(socket, done);
}

TEST(ConfinedProcess, HasNoRights) {
    const UniqueFd secret(open("/etc/passwd", O_RDONLY)); // not close-on-exec: forks inherit it
    const auto processes = ConfinedProcesses::start("confined", try_everything);
    ASSERT_TRUE(processes) << processes.error().message();
    auto process = (*processes)->make();
    ASSERT_TRUE(process) << process.error().message();
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to have rights that can be given up";
    EXPECT_EQ(ask(*process), "");
}

void crash(int socket) {
    receive_message(socket, 16);
    raise(SIGSEGV);
}

TEST(ConfinedProcess, OneThatCrashesIsGoneAndTheNextOneComes) {
    const auto processes = ConfinedProcesses::start("confined", crash);
    ASSERT_TRUE(processes);
    for (int i = 0; i < 3; i++) {
        const auto process = (*processes)->make();
        ASSERT_TRUE(process);
        EXPECT_EQ(ask(*process), "gone");
    }
}

void hang(int socket) {
    send_message(socket, std::to_string(getpid()));
    for (;;)
        pause();
}

bool exists(const std::string& pid) {
    return std::filesystem::exists("/proc/" + pid);
}

TEST(ConfinedProcess, EndsWithWhatItBelongsTo) {
    auto processes = ConfinedProcesses::start("confined", hang);
    ASSERT_TRUE(processes);
    auto process = (*processes)->make();
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
    auto processes = ConfinedProcesses::start("confined", hang);
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
