// SPDX-License-Identifier: GPL-3.0-or-later
// LaunchedProcess: a command that auger starts. The child is forked first and waits on a pipe, so
// that probes and samplers are in place before its first instruction; release() lets it exec.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/proc_info.h"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class Starter;

struct LaunchOptions {
    std::vector<std::string> arguments; // [0] is the command, searched in PATH; at least one
    std::optional<InvokingUser> user;   // run as this user (under sudo); empty: as auger runs
    // A process group of its own, so that Ctrl-C at the console does not reach the command.
    bool own_process_group = true;
    // What the destructor does with a command that still runs: SIGTERM, or leave it alone. A child
    // that was never released is always killed, because it has not become the command.
    bool terminate_on_exit = false;
    int stdin_fd = -1;  // -1: /dev/null. Otherwise duplicated; stays the caller's.
    int stdout_fd = -1; // -1: auger's own
    int stderr_fd = -1; // -1: auger's own
    // Which is that user already; null: it is forked here, with the rights that are left here.
    Starter* starter = nullptr;
};

struct ExitStatus {
    bool signaled;
    int value; // exit code, or the signal's number
    bool core_dumped;
};

// The file that a command means: searched in PATH as execvp would. Fails with the reason when there
// is none that may be executed.
Result<std::string> find_command(const std::string& command);

class LaunchedProcess {
  public:
    // Forks; the child waits. Fails for an empty command or when fork or the pipes fail.
    static Result<LaunchedProcess> start(const LaunchOptions& options);
    LaunchedProcess(LaunchedProcess&& other) noexcept;
    LaunchedProcess& operator=(LaunchedProcess&& other) noexcept;
    ~LaunchedProcess();

    pid_t pid() const { return pid_; }
    // Readable (epoll) when the command has ended.
    int pidfd() const { return pidfd_.get(); }
    const std::string& command() const { return command_; }

    // Lets the child exec and returns once it has (or has not: the Error has the cause). Once only.
    Result<void> release();
    // Collects the exit status without blocking; nothing while it runs.
    Result<std::optional<ExitStatus>> exit_status();
    // Waits up to `timeout` for the end; nothing when it still runs then.
    Result<std::optional<ExitStatus>> wait_exit(std::chrono::milliseconds timeout);
    // Sends a signal through the pidfd: never to a process that took the number over.
    Result<void> signal(int number) const;

  private:
    LaunchedProcess() = default;
    void finish();

    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd go_;         // closing it without writing makes the child exit
    UniqueFd exec_error_; // end of file: exec worked
    std::string command_;
    bool terminate_on_exit_ = false;
    bool released_ = false;
    std::optional<ExitStatus> status_;
};

} // namespace auger
