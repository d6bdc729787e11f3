// SPDX-License-Identifier: GPL-3.0-or-later
// Where distributions put what was stripped from a program: by build id, and by .gnu_debuglink. Our
// root is searched first. A container brings its own files along: they name only what that
// container runs, and say nothing of where a breakpoint may go (own_functions.h). A module's debug
// file is root's, in our own root, or of who owns the module, or of its container's root: else
// anybody could name others' functions. Files are found and opened here; what is in them is
// somebody else's to read.
#pragma once

#include "loader/base/fd.h"
#include "loader/elf/debug_link.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct DebugFolders {
    int target_root = -1; // O_PATH of the target's root when it differs from ours
    int own_root = -1;    // O_PATH of "/"
    std::string folder = "/usr/lib/debug";
};

// A file that was found.
struct DebugFile {
    std::shared_ptr<const UniqueFd> fd;
    std::string name; // the path, or where else it came from
};

// What has to be known of a file's content. It may be anything.
class FileQuestions {
  public:
    virtual ~FileQuestions() = default;
    // Lower-case hexadecimal; nothing when it has none, or is no ELF file.
    virtual std::optional<std::string> build_id_of(int fd) = 0;
    // As a DebugLink has it. Nothing of a file that is larger than any honest one.
    virtual std::optional<uint32_t> checksum_of(int fd) = 0;
};

// The file with this build id (lower-case hexadecimal), for the module that is open as `module`;
// -1: whoever wrote it.
std::optional<DebugFile> debug_file_by_build_id(std::string_view build_id, int module,
                                                const DebugFolders& folders,
                                                FileQuestions& questions);

// What a module says of its debug file.
struct DebugFileOf {
    int file;         // the module's own
    std::string path; // as the target sees it
    std::string build_id;
    std::optional<DebugLink> link;
};

// By build id, else by debug link (beside the module, in .debug/, below the debug folder) with a
// matching checksum.
std::optional<DebugFile> find_debug_file(const DebugFileOf& module, const DebugFolders& folders,
                                         FileQuestions& questions);

} // namespace auger
