// SPDX-License-Identifier: GPL-3.0-or-later
// What /proc says of a process: memory, descriptors, and how long it waited for a CPU.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace auger::test {

// Of /proc/PID/status, in bytes: "VmHWM", "VmRSS". 0 when the process is gone.
uint64_t memory_of(pid_t pid, const std::string& what);
uint64_t open_files_of(pid_t pid);
// How long its first thread had something to do and no CPU, since it began.
std::chrono::nanoseconds run_delay_of(pid_t pid);
// ... of each thread of it, and of all its descendants, by the thread's id.
std::map<pid_t, std::chrono::nanoseconds> run_delays_of_family(pid_t pid);
std::chrono::nanoseconds own_run_delay(); // of this thread

} // namespace auger::test
