// SPDX-License-Identifier: GPL-3.0-or-later
// The executable file mappings of a process, from /proc/PID/maps, and the safe way to open them.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// One mapping. Addresses are the process's virtual addresses; `end` is exclusive.
struct Mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset; // of `start` in the file, bytes
    uint64_t device; // makedev() of the file; 0 for anonymous memory
    uint64_t inode;
    bool executable;
    bool writable;
    bool shared;      // what is written to it is seen by others, and theirs here
    bool deleted;     // the path ended in " (deleted)", which `path` no longer has
    std::string path; // as the kernel prints it with \012 escapes undone: file, "[vdso]", or empty
};

// Lines that do not parse are skipped. Pure, for tests.
std::vector<Mapping> parse_maps(std::string_view text);

// All mappings of the process (also non-executable ones). Fails when it is gone.
Result<std::vector<Mapping>> read_maps(pid_t pid);

// Opens the file behind a mapping through /proc/PID/map_files, so that deleted and replaced files
// and files in other mount namespaces work; falls back to /proc/PID/root/PATH, and to our own PATH
// when the process is gone (checked against device and inode). Never blocks (FIFOs are refused).
Result<UniqueFd> open_mapped_file(pid_t pid, const Mapping& mapping);

} // namespace auger
