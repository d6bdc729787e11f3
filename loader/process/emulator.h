// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that run others by translating their machine code: Valgrind, qemu-user, DynamoRIO, Pin.
// A probe's breakpoint in code that is translated is an instruction like any other to them, of
// which the program that they run dies.
#pragma once

#include "loader/process/proc_maps.h"

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>

namespace auger {

// The name of the emulator that the process is; empty: it is none that we know.
std::string emulator_of(pid_t pid);
std::string emulator_of(pid_t pid, std::span<const Mapping> maps);
// The same by what it executes and a file that it maps.
std::string emulator_named(std::string_view executable);
std::string emulator_mapping(std::string_view path);
// Whether it is qemu-user for programs of this machine's architecture: their code is mapped to be
// read, which the kernel tells nobody of.
bool maps_code_as_data(std::string_view executable);

} // namespace auger
