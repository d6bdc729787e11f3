// SPDX-License-Identifier: GPL-3.0-or-later
// Where the threads of a process have a variable of a file that it maps: what thread_place() needs
// of the process.
#pragma once

#include "loader/elf/program_headers.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/values/thread_place.h"

#include <sys/types.h>

#include <optional>
#include <span>

namespace auger {

// Whether the process executes this file.
bool executes_file(pid_t pid, FileIdentity file);

struct MappedFile {
    FileIdentity mapped; // as its mappings have it
    std::span<const ElfSegment> segments;
    bool is_program = false; // the process executes it
};

// As thread_place(); nothing: it is too early, too. `is_late` becomes true when the process's
// memory lets wait who reads it.
Result<std::optional<wire_thread_place>>
find_thread_place(pid_t pid, const MappedFile& file, const ThreadVariable& variable, bool& is_late);

} // namespace auger
