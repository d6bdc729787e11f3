// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleDebug: what was compiled into a module with -g, wherever it lies now: in the file itself or
// in a separate debug file. Read when first asked for.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/dwarf/line_table.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/matching/own_functions.h"

#include <memory>
#include <optional>
#include <string>

namespace auger {

class DwarfFile;

// What belongs to a module and lies elsewhere; all of it may be missing.
struct SeparateDebug {
    std::shared_ptr<const ElfFile> file;
    std::shared_ptr<const ElfFile> alternative{}; // what dwz has put elsewhere
    std::string problem{};                        // why that is not there; empty: it need not be
};

class ModuleDebug {
  public:
    // `path` as the target sees it.
    ModuleDebug(std::shared_ptr<const ElfFile> file, std::string path, SeparateDebug separate)
        : file_(std::move(file)), path_(std::move(path)), separate_(std::move(separate)) {}

    // Null when the file is complete, or there is none.
    const std::shared_ptr<const ElfFile>& debug_file() const { return separate_.file; }
    const Result<std::shared_ptr<const LineTable>>& lines();
    const OwnFunctions& own_functions();
    // All of it. It may take as much memory as the debug information has, so it is kept only for as
    // long as somebody holds it.
    Result<std::shared_ptr<DwarfFile>> dwarf();

  private:
    Result<std::shared_ptr<const ElfFile>> file_with_debug(const char* operation) const;
    Result<std::shared_ptr<const LineTable>> read_lines() const;

    std::shared_ptr<const ElfFile> file_;
    std::string path_;
    SeparateDebug separate_;
    std::optional<Result<std::shared_ptr<const LineTable>>> lines_;
    std::optional<OwnFunctions> own_functions_;
    std::weak_ptr<DwarfFile> dwarf_;
};

} // namespace auger
