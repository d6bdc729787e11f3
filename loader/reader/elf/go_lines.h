// SPDX-License-Identifier: GPL-3.0-or-later
// GoLines: source lines and inlined functions by the tables that Go's linker leaves in every
// program for its own tracebacks, stripped or not. Of Go 1.16 to 1.26; there are no others in
// earlier tables. Hostile like all content of files: an address costs no more than a bounded number
// of steps.
#pragma once

#include "loader/reader/elf/go_inline_trees.h"
#include "loader/symbols/source_frame.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace auger {

class GoLines {
  public:
    // Null when the file is no program of Go's, or one of an earlier version.
    static std::unique_ptr<GoLines> of_file(const std::shared_ptr<const ElfFile>& file);

    // For tables that are in no file; `table` must outlive it.
    GoLines(const GoTable& table, GoInlineTrees trees) : table_(table), trees_(std::move(trees)) {}

    // Innermost first; empty when the address is in no function of the table.
    std::vector<SourceFrame> frames(uint64_t address) const;
    const GoInlineTrees& trees() const { return trees_; }

  private:
    class Values;

    std::shared_ptr<const ElfFile> file_; // has the table, if it is in one
    const GoTable& table_;
    GoInlineTrees trees_;
};

} // namespace auger
