// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleDebug: what was compiled into a module with -g, wherever it lies now: in the file itself or
// in a separate debug file (by build id or debug link). Looked for when first asked for.
#pragma once

#include "loader/base/result.h"
#include "loader/elf/elf_file.h"
#include "loader/symbols/line_table.h"
#include "loader/symbols/own_functions.h"

#include <memory>
#include <optional>
#include <string>

namespace auger {

class DwarfFile;

class ModuleDebug {
  public:
    // `path` as the target sees it; `root`: the root folder of those that map it, which is searched
    // after ours; null: only ours.
    ModuleDebug(std::shared_ptr<const ElfFile> file, std::string path,
                std::shared_ptr<const UniqueFd> root);

    // The separate debug file; null when the file is complete, or there is none.
    const std::shared_ptr<const ElfFile>& debug_file();
    const Result<std::shared_ptr<const LineTable>>& lines();
    const OwnFunctions& own_functions();
    // All of it. It may take as much memory as the debug information has, so it is kept only for as
    // long as somebody holds it.
    Result<std::shared_ptr<DwarfFile>> dwarf();

  private:
    Result<std::shared_ptr<const ElfFile>> file_with_debug(const char* operation);
    Result<std::shared_ptr<const LineTable>> read_lines();

    std::shared_ptr<const ElfFile> file_;
    std::string path_;
    std::shared_ptr<const UniqueFd> root_;
    std::optional<std::shared_ptr<const ElfFile>> debug_file_;
    std::optional<Result<std::shared_ptr<const LineTable>>> lines_;
    std::optional<OwnFunctions> own_functions_;
    std::weak_ptr<DwarfFile> dwarf_;
};

} // namespace auger
