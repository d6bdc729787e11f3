// SPDX-License-Identifier: GPL-3.0-or-later
// Names of system calls, as the kernel headers of the build have them.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

// "recvfrom"; "syscall 999" for a number that the headers did not know.
std::string syscall_name(uint64_t number);

// Whether its first argument is a file descriptor that it may wait for.
bool waits_for_descriptor(uint64_t number);

} // namespace auger
