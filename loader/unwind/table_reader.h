// SPDX-License-Identifier: GPL-3.0-or-later
// Unwind tables of one file, compiled in a confined process of its own: the file comes from a
// target. What that process answers is not trusted either.
#pragma once

#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "loader/unwind/unwind_cache.h"
#include "loader/unwind/unwind_tables.h"

#include <chrono>
#include <string>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* table_service = "tables";

// How long compiling a file may take before its process is given up: ten times and more of what it
// takes on a machine that is busy otherwise.
std::chrono::milliseconds table_patience(uint64_t file_bytes);

// From the cache, else compiled and put there; `cache` is null for files of which others than root
// and our user may have written a byte, whose tables could be taken for another's then. A process
// that ends too soon is replaced once. `go_on` is asked now and then, see message.h.
Result<UnwindTables> read_unwind_tables(ConfinedProcesses& processes, int file,
                                        const std::string& name, const UnwindCache* cache,
                                        const GoOn& go_on = {}, bool* died = nullptr);

} // namespace auger
