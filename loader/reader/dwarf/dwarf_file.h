// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfFile: one file's DWARF, opened through libdw without trusting it: section sizes are checked
// before anything is inflated, and no file is opened that the target names.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/debug_files.h"

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace auger {

class DwarfFile {
  public:
    // Fails when there is no usable DWARF, with the reason. Used by one thread. `alternative`: what
    // alternative_file() says.
    static Result<std::unique_ptr<DwarfFile>> open(std::shared_ptr<const ElfFile> file,
                                                   std::shared_ptr<const ElfFile> alternative);
    // The same, with all that belongs to it.
    static Result<std::unique_ptr<DwarfFile>> open(std::shared_ptr<const ElfFile> file,
                                                   const DebugFolders& folders);
    ~DwarfFile();
    DwarfFile(const DwarfFile&) = delete;
    DwarfFile& operator=(const DwarfFile&) = delete;

    Dwarf* handle() const { return dwarf_; }
    const ElfFile& file() const { return *file_; }
    size_t section_bytes() const { return section_bytes_; } // inflated; held in memory by libdw
    size_t info_bytes() const { return info_bytes_; }       // of .debug_info alone

  private:
    explicit DwarfFile(std::shared_ptr<const ElfFile> file) : file_(std::move(file)) {}
    Result<void> open_alternative();

    std::shared_ptr<const ElfFile> file_, alternative_file_;
    Elf* elf_ = nullptr;
    Elf* alternative_elf_ = nullptr;
    Dwarf* dwarf_ = nullptr;
    Dwarf* alternative_ = nullptr;
    size_t section_bytes_ = 0;
    size_t info_bytes_ = 0;
};

// The build id (lower-case hexadecimal) of a file that several share and that dwz has put something
// into; nothing when it has not. Empty when what says so is damaged.
std::optional<std::string> alternative_build_id(const ElfFile& file);

// That file; null when there is none. Fails when it is not to be found.
Result<std::shared_ptr<const ElfFile>> alternative_file(const ElfFile& file,
                                                        const DebugFolders& folders);

// Whether there is anything to open.
bool has_dwarf(const ElfFile& file);

} // namespace auger
