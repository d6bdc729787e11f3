// SPDX-License-Identifier: GPL-3.0-or-later
// Confinement: how a process gives up all that it does not need to read what it was handed.
#pragma once

#include "loader/process/confined_program.h"

namespace auger {

// Gives up for good: users and capabilities, the file system, the network, signals, other
// processes, executable memory, and all system calls but those that reading and answering take. Of
// descriptors it keeps the standard streams and confined_socket. False when rights are left: then
// nothing is to be read. What the kernel does not have (Landlock, namespaces) is done without,
// since the other walls stand. `written`: see ConfinedService.
bool confine(const ConfinedLimits& limits, uint64_t written);

} // namespace auger
