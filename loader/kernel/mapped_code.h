// SPDX-License-Identifier: GPL-3.0-or-later
// What processes have in memory where they map a file: the file's own content, unless a page was
// written to (by a breakpoint, too) and the file then got other content in place.
#pragma once

#include "loader/kernel/module_catalogue.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>

namespace auger {

// A process that maps the file (as /proc/PID/maps names it) and whose code at one of the offsets is
// not what the open file has there. `pid` 0: of all processes.
std::optional<pid_t> find_other_code(pid_t pid, FileIdentity mapped, int file_fd,
                                     std::span<const uint64_t> offsets);

} // namespace auger
