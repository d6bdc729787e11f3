// SPDX-License-Identifier: GPL-3.0-or-later
// Processes for reading hostile files with libraries that may not be up to them. Such a process has
// no rights, no files but those it is handed, no network, bounded memory and time. When it is made
// to crash, or worse, nothing of auger is within its reach.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace auger {

// What it does: answer what comes through the socket. It ends when this returns.
using ConfinedMain = void (*)(int socket);

struct ConfinedLimits {
    uint64_t memory = uint64_t{8} << 30; // bytes of address space
    uint64_t cpu_seconds = 600;          // of its whole life
};

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

// Makes them. They are forked from a process that is itself forked once, early, so that none of
// them has anything in its memory that came later, and no thread holds a lock in it.
class ConfinedProcesses {
  public:
    // `name`: as in ps, at most 15 bytes.
    static Result<std::unique_ptr<ConfinedProcesses>> start(const char* name, ConfinedMain main,
                                                            const ConfinedLimits& limits = {});
    ~ConfinedProcesses(); // ends all that are left
    ConfinedProcesses(const ConfinedProcesses&) = delete;
    ConfinedProcesses& operator=(const ConfinedProcesses&) = delete;

    // By one thread at a time.
    Result<ConfinedProcess> make();

  private:
    ConfinedProcesses(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

    UniqueFd socket_;
    pid_t pid_;
};

} // namespace auger
