// SPDX-License-Identifier: GPL-3.0-or-later
// The other side of ConfinedProcesses: a program of which one process, the launcher, has what it
// takes to give rights up and reads nothing, and all others read whatever they are handed and have
// no rights.
#pragma once

#include "loader/process/confined_memory.h"
#include "loader/process/confined_start.h"

#include <cstdint>
#include <span>

namespace auger {

// What a process does: answer what comes through the socket. It ends when this returns.
using ConfinedMain = void (*)(int socket);

struct ConfinedService {
    const char* name; // at most 9 bytes: in ps it is auger-NAME
    ConfinedMain serve;
    int nice = 0;         // priority(7): what others wait for is 0, what they do not is 10
    uint64_t written = 0; // bytes from the begin of what it is handed to write to
    // It gives up its rights itself (confinement.h), before it reads anything of a target's.
    bool confines_itself = false;
};

struct ConfinedLimits {
    uint64_t memory = most_confined_memory; // bytes; see confined_memory_limit()
    uint64_t cpu_seconds = 600;             // of its whole life
};

// The program's main(). `PROGRAM launch ARGUMENT...` is the launcher; `PROGRAM serve NAME
// ARGUMENT...` gives up its rights and does what has this name.
int confined_program(int argc, char** argv, std::span<const ConfinedService> services,
                     const ConfinedLimits& limits = {});

} // namespace auger
