// SPDX-License-Identifier: GPL-3.0-or-later
// From a file's call frame information to tables for unwinding. Files are hostile: what is broken
// in them is left out of the tables and counted; time and memory are bounded by the file's size and
// by fixed limits.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/frame_sections.h"
#include "loader/unwind/unwind_tables.h"

#include <span>

namespace auger {

// Of code in the executable ones of the segments.
UnwindTables compile_unwind_tables(std::span<const ElfSegment> segments,
                                   std::span<const FrameSection> sections);

// Of .eh_frame, of .debug_frame for what that does not cover, and of the code itself for functions
// that neither covers. Fails when there is such a
// section and it cannot be read.
Result<UnwindTables> compile_unwind_tables(const ElfFile& file);

} // namespace auger
