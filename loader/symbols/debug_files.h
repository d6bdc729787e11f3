// SPDX-License-Identifier: GPL-3.0-or-later
// Where distributions put what was stripped from a program: by build id, and by .gnu_debuglink. Our
// root is searched first: what lies there is root's. A container brings its own files along: they
// name only what that container runs, and say nothing of where a breakpoint may go
// (own_functions.h).
#pragma once

#include "loader/elf/elf_file.h"
#include "loader/symbols/progress.h"

#include <memory>
#include <string>
#include <string_view>

namespace auger {

struct DebugFolders {
    int target_root = -1; // O_PATH of the target's root when it differs from ours
    int own_root = -1;    // O_PATH of "/"
    std::string folder = "/usr/lib/debug";
};

// By build id (lower-case hexadecimal); the file's own id must match. Null when there is none.
std::shared_ptr<const ElfFile> debug_file_by_build_id(std::string_view build_id,
                                                      const DebugFolders& folders);

// By build id, else by debug link (beside the module, in .debug/, below the debug folder) with a
// matching checksum. `path` is the module's, as the target sees it. Null when there is none.
std::shared_ptr<const ElfFile> find_debug_file(const ElfFile& module, const std::string& path,
                                               const DebugFolders& folders,
                                               const WorkProgress& progress);

} // namespace auger
