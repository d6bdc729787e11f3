// SPDX-License-Identifier: GPL-3.0-or-later
// What a thread or a goroutine waits in and for, for people: "recvfrom(17) tcp 127.0.0.1:80 ->
// 10.0.0.7:4711", "parked: chan receive".
#pragma once

#include "loader/process/fd_target.h"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace auger {

// `syscall` is a number or one of wire_no_syscall, `argument` the call's first one. Without
// `descriptors` it is not told what a descriptor stands for.
std::string wait_text(FdTargets* descriptors, pid_t pid, uint64_t now_ns, int32_t syscall,
                      uint64_t argument);

} // namespace auger
