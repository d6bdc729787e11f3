// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process is handed, looked for and read here.
#pragma once

#include "loader/process/safe_open.h"
#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/matching/module_debug.h"
#include "loader/reader/names/elf_questions.h"
#include "loader/reader/values/read_thread_local_block.h"
#include "loader/values/errno_place.h"

#include <memory>
#include <span>
#include <string>

namespace auger::test {

inline std::shared_ptr<ModuleDebug> debug_of(const std::shared_ptr<const ElfFile>& file,
                                             const std::string& path) {
    const auto root = open_folder("/");
    const DebugFolders folders{-1, root ? root->get() : -1};
    SeparateDebug separate;
    if (!has_dwarf(*file))
        separate.file = open_debug_file(*file, path, folders);
    if (auto alternative = alternative_file(separate.file ? *separate.file : *file, folders))
        separate.alternative = *alternative;
    else
        separate.problem = alternative.error().cause;
    return std::make_shared<ModuleDebug>(file, path, std::move(separate));
}

inline Result<int32_t> errno_of(std::span<const pid_t> pids) {
    return errno_offset(
        pids, [](pid_t, UniqueFd fd, const std::string& path) -> Result<ThreadLocalBlock> {
            auto file = ElfFile::open(std::move(fd), path);
            if (!file)
                return file.error();
            return read_thread_local_block(**file);
        });
}

} // namespace auger::test
