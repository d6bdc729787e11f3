// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/base/result.h"

#include <sys/types.h>

#include <string>

namespace auger {

// The words that the process was started with, joined by blanks and cut to 4 kB; empty for kernel
// threads. The process may have changed them.
Result<std::string> command_line_of(pid_t pid);

} // namespace auger
