// SPDX-License-Identifier: GPL-3.0-or-later
// Where a process keeps errno: at the same distance from every thread's control block, which the
// dynamic linker chose when the process began.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/values/thread_local_block.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace auger {

// Reads what an open file, which the process maps, says of its thread-local variables.
using BlockReader =
    std::function<Result<ThreadLocalBlock>(pid_t pid, UniqueFd file, const std::string& path)>;

// In bytes from the control block. Fails unless it is the same in all of the processes. Errors have
// cause and hint.
Result<int32_t> errno_offset(std::span<const pid_t> pids, const BlockReader& read);

} // namespace auger
