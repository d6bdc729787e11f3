// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/dwarf/source_lines.h"

#include <utility>

namespace auger {

Result<std::unique_ptr<SourceLines>> SourceLines::open(Files files, WorkProgress& progress) {
    std::unique_ptr<SourceLines> lines(new SourceLines(files.go_program));
    lines->go_bytes_ = files.go_program ? files.go_program->go_table_bytes() : 0;
    Error missing{"read line information of", "", "not an ELF file", {}};
    if (files.dwarf) {
        auto dwarf = DwarfFile::open(std::move(files.dwarf), std::move(files.alternative));
        if (dwarf)
            lines->dwarf_ = DwarfIndex::make(*std::move(dwarf), progress);
        else
            missing = dwarf.error();
    } else if (files.go_program) {
        missing = {"read line information of",
                   files.go_program->name(),
                   "Go's tables are damaged, or of a version that is not known",
                   {}};
    }
    // Together with DWARF it is read when an address asks for it.
    if (!lines->dwarf_ && !lines->go_lines())
        return missing;
    return lines;
}

const GoLines* SourceLines::go_lines() {
    if (const auto program = std::exchange(go_program_, nullptr))
        go_lines_ = GoLines::of_file(program);
    return go_lines_.get();
}

std::vector<SourceFrame> SourceLines::frames(uint64_t address, const WorkProgress& progress) {
    std::vector<SourceFrame> by_dwarf;
    if (dwarf_)
        by_dwarf = dwarf_->frames(address, progress);
    // It may know the line alone.
    if (!by_dwarf.empty() && !by_dwarf.back().function.empty())
        return by_dwarf;
    if (const GoLines* lines = go_lines())
        if (auto by_table = lines->frames(address); !by_table.empty())
            return by_table;
    return by_dwarf;
}

size_t SourceLines::section_bytes() const {
    return (dwarf_ ? dwarf_->section_bytes() : 0) + go_bytes_;
}

} // namespace auger
