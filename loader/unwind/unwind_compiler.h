// SPDX-License-Identifier: GPL-3.0-or-later
// From a file's call frame information to tables for unwinding. Files are hostile: what is broken
// in them is left out of the tables and counted; time and memory are bounded by the file's size and
// by fixed limits.
#pragma once

#include "loader/base/result.h"
#include "loader/elf/elf_file.h"
#include "loader/unwind/frame_sections.h"
#include "loader/unwind/unwind_table.h"

#include <span>

namespace auger {

struct UnwindStatistics {
    uint64_t functions = 0;        // entries that are in the tables
    uint64_t code_functions = 0;   // without an entry, but told from their code
    uint64_t go_functions = 0;     // ... but told from Go's table
    uint64_t rows = 0;             // of all tables
    uint64_t unsupported_rows = 0; // that say WIRE_CFA_UNSUPPORTED
    FrameSkips skipped{};
};

struct UnwindTables {
    // One for each executable segment with functions, by address; none when the file has no call
    // frame information.
    std::vector<UnwindTable> tables;
    UnwindStatistics statistics;

    // The rule at an address as linked. Null where nothing is covered.
    const wire_unwind_rule* find(uint64_t address) const;
};

// Of code in the executable ones of the segments.
UnwindTables compile_unwind_tables(std::span<const ElfSegment> segments,
                                   std::span<const FrameSection> sections);

// Of .eh_frame, of .debug_frame for what that does not cover, and of the code itself for functions
// that neither covers. Fails when there is such a
// section and it cannot be read.
Result<UnwindTables> compile_unwind_tables(const ElfFile& file);

} // namespace auger
