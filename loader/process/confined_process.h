// SPDX-License-Identifier: GPL-3.0-or-later
// Processes for reading hostile files with libraries that may not be up to them. Such a process is
// another program than auger (confined_program.h), has no rights, no files but those it is handed,
// no network, few system calls, bounded memory and time. When it is made to crash, or worse,
// nothing of auger is within its reach: neither memory nor descriptors nor where anything lies.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/confined_memory.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
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
    bool network = false;               // for what confines itself: ConfinedService
};

// The program that reads files for auger: it stands beside the program that runs, or where that is
// installed.
ConfinedProgram reader_program();
ConfinedProgram networked_reader_program();

// Makes them: one process of the program, which starts the others, each with a memory layout of its
// own, and has only the rights that this takes (prepare_to_confine()). A root auger makes it before
// it gives up its own.
class ConfinedProcesses {
  public:
    static Result<std::unique_ptr<ConfinedProcesses>> start(const ConfinedProgram& program);
    ~ConfinedProcesses(); // ends all that are left
    ConfinedProcesses(const ConfinedProcesses&) = delete;
    ConfinedProcesses& operator=(const ConfinedProcesses&) = delete;

    // One that does what the program has under this name. From any thread. A launcher that was
    // killed is started again.
    Result<ConfinedProcess> make(std::string_view service);
    // Of the launcher, whose children the others are.
    pid_t pid() const;
    // Of those that there are. From any thread.
    std::vector<ConfinedMemory> memory();

  private:
    explicit ConfinedProcesses(ConfinedProgram program) : program_(std::move(program)) {}

    Result<void> launch();
    void end();
    std::vector<ConfinedMemory> memory_of_made();
    std::optional<ConfinedProcess> ask(std::string_view service);

    const ConfinedProgram program_;
    mutable std::mutex mutex_; // of what follows
    UniqueFd socket_;
    pid_t pid_ = 0;
    std::vector<pid_t> made_; // some of which may be gone
};

} // namespace auger
