// SPDX-License-Identifier: GPL-3.0-or-later
// Where a process keeps errno: at the same distance from every thread's control block, which the
// dynamic linker chose when the process began.
#pragma once

#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace auger {

// In bytes from the control block. Fails unless it is the same in all of the processes. Errors have
// cause and hint.
Result<int32_t> errno_offset(std::span<const pid_t> pids);

} // namespace auger
