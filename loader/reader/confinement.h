// SPDX-License-Identifier: GPL-3.0-or-later
// Confinement: how a process gives up all that it does not need to read what it was handed.
#pragma once

#include "loader/process/landlock.h"
#include "loader/reader/confined_program.h"

namespace auger {

// Of who starts such processes: keeps what it takes to give the rest up (users, the file system), and
// to end them. None of it is left to them. A launcher of root's has the network and other
// namespaces that they are to have.
void prepare_to_confine();

// Gives up for good: users and capabilities, the file system, the network, signals, other
// processes, executable memory, and all system calls but those that reading and answering take. Of
// descriptors it keeps the standard streams and confined_socket. False when rights are left: then
// nothing is to be read. What the kernel does not have (Landlock, namespaces) is done without,
// since the other walls stand. `written`: see ConfinedService.
bool confine(const ConfinedLimits& limits, uint64_t written);

// The same for one that needs the network, a library that loads others, and a cache of its user's:
// it stays that user, without capabilities, and has these files only (with Landlock, Linux 5.13).
// What system calls others' processes, the kernel or new programs could be reached by are refused.
bool confine_with_network(const ConfinedLimits& limits, uint64_t written,
                          const AllowedFiles& files);

} // namespace auger
