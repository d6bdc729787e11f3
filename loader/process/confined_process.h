// SPDX-License-Identifier: GPL-3.0-or-later
// Processes for reading hostile files with libraries that may not be up to them. Such a process is
// another program than auger (confined_program.h), has no rights, no files but those it is handed,
// no network, few system calls, bounded memory and time. When it is made to crash, or worse,
// nothing of auger is within its reach: neither memory nor descriptors nor where anything lies.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// One of them. It is killed when its handle is gone.
class ConfinedProcess {
  public:
    ConfinedProcess(UniqueFd socket, UniqueFd process)
        : socket_(std::move(socket)), process_(std::move(process)) {}
    ConfinedProcess(ConfinedProcess&&) = default;
    ConfinedProcess& operator=(ConfinedProcess&&) = delete;
    ~ConfinedProcess();

    int socket() const { return socket_.get(); }

  private:
    UniqueFd socket_, process_; // a pidfd
};

// A program whose main() is confined_program().
struct ConfinedProgram {
    std::string path;
    std::vector<std::string> arguments; // which all of its processes get
};

// The program that reads files for auger: it stands beside the program that runs, or where that is
// installed.
ConfinedProgram reader_program();

// Makes them: one process of the program, which has auger's rights and starts the others, each with
// a memory layout of its own.
class ConfinedProcesses {
  public:
    static Result<std::unique_ptr<ConfinedProcesses>> start(const ConfinedProgram& program);
    ~ConfinedProcesses(); // ends all that are left
    ConfinedProcesses(const ConfinedProcesses&) = delete;
    ConfinedProcesses& operator=(const ConfinedProcesses&) = delete;

    // One that does what the program has under this name. From any thread.
    Result<ConfinedProcess> make(std::string_view service);

  private:
    ConfinedProcesses(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

    std::mutex mutex_; // of the conversation
    UniqueFd socket_;
    pid_t pid_;
};

} // namespace auger
