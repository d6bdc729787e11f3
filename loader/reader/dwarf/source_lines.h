// SPDX-License-Identifier: GPL-3.0-or-later
// SourceLines: source lines and inlined functions of one module: by DWARF, and by Go's own tables
// where that says nothing of an address. DWARF goes first since it knows a program's C, too, and
// the types that generic functions are for. Each address is answered by one of them, so nothing is
// told twice.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/dwarf/dwarf_index.h"
#include "loader/reader/elf/go_lines.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace auger {

class SourceLines {
  public:
    // Each may be null: what has the DWARF, what dwz has put elsewhere of it, and a Go program.
    struct Files {
        std::shared_ptr<const ElfFile> dwarf, alternative, go_program;
    };
    // Fails when there is nothing to be used, with the reason. Used by one thread.
    static Result<std::unique_ptr<SourceLines>> open(Files files, WorkProgress& progress);

    // Innermost first; empty when there is nothing about the address (as linked).
    std::vector<SourceFrame> frames(uint64_t address, const WorkProgress& progress);
    size_t section_bytes() const; // held in memory, or will be when an address asks for them

  private:
    explicit SourceLines(std::shared_ptr<const ElfFile> go_program)
        : go_program_(std::move(go_program)) {}
    const GoLines* go_lines();

    std::unique_ptr<DwarfIndex> dwarf_;
    std::shared_ptr<const ElfFile> go_program_; // null: there is none, or it has been read
    std::unique_ptr<GoLines> go_lines_;
    size_t go_bytes_ = 0;
};

} // namespace auger
