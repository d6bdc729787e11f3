// SPDX-License-Identifier: GPL-3.0-or-later
// LiveTarget: which processes are observed. It keeps the kernel's set of targets and our list of
// them in step, starts the command of `-- COMMAND`, and knows how each process ended.
#pragma once

#include "bpf/wire.h"
#include "loader/kernel/programs.h"
#include "loader/process/launch.h"
#include "loader/process/users.h"
#include "loader/reports/target_status.h"
#include "loader/settings/target_spec.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class LiveTarget {
  public:
    // `starter`: of commands; null: they are forked here.
    explicit LiveTarget(Programs& programs, Starter* starter = nullptr)
        : programs_(programs), starter_(starter) {}

    // What set() puts in force: the processes that there are, the command started and held.
    struct Prepared;
    // Fails when a process does not exist or the command cannot be started. Changes nothing.
    Result<Prepared> prepare(const TargetSpec& spec);
    // Replaces the target; the former one is observed no longer. Fails without a change.
    Result<void> set(Prepared prepared);
    Result<void> start_command();
    // A command that still waits for start_command().
    bool waiting_to_start() const { return command_ && !command_started_; }
    // Path of the program that the waiting command will run; empty when it is not found.
    const std::string& command_path() const { return command_path_; }

    const TargetSpec& spec() const { return spec_; }
    std::vector<pid_t> running() const;
    // The process's name; a thread may have another.
    std::string name_of(pid_t pid) const;
    bool contains(pid_t pid) const { return processes_.contains(pid); }
    bool is_running(pid_t pid) const;
    // Whether a process that executes a program of that name comes to the target, unless the target
    // has other conditions.
    bool is_named(const std::string& comm) const;
    bool everything() const { return spec_.kind == TargetSpec::Kind::all; }
    // No process can come any more.
    bool ended() const;
    TargetStatus status() const;

    // The kernel has already done the same to its set.
    void on_started(pid_t pid, const std::string& comm);
    void on_exited(pid_t pid);
    // What the kernel's set says when its word of births and ends was lost.
    struct Difference {
        std::vector<pid_t> born, ended;
    };
    Difference compare_with_kernel() const;
    // Exit status of the command, once it has ended; a line for the user when it just did.
    std::optional<std::string> collect_command();
    int command_pidfd() const { return command_ ? command_->pidfd() : -1; }

  private:
    struct Process {
        std::string comm;
        std::string user;
        bool running = true;
        std::string exit;
        uint64_t start_ticks = 0; // with the pid, its identity; 0: the kernel told of its birth
    };
    // Whether the pid is still the process that was meant.
    static bool is_there(pid_t pid, const Process& process);

    Result<void> add(Prepared& prepared, pid_t pid);
    Result<void> add_named(Prepared& prepared);
    std::string user_of(pid_t pid);

    Programs& programs_;
    Starter* const starter_;
    UserNames users_;
    TargetSpec spec_;
    std::map<pid_t, Process> processes_;
    std::optional<LaunchedProcess> command_;
    std::string command_path_;
    bool command_started_ = false;
    bool command_ended_ = false;
};

struct LiveTarget::Prepared {
    TargetSpec spec;
    wire_target_condition condition{0, static_cast<uint32_t>(WIRE_ANY_USER), 0}; // of kind name
    std::map<pid_t, Process> processes{};
    std::optional<LaunchedProcess> command{};
    std::string command_path{};

    std::vector<pid_t> pids() const;
};

} // namespace auger
