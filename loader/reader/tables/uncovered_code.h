// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that no call frame information covers, and what their code tells of their frames.
// musl's C library is one large such place; others are a few functions of assembly.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/table_builder.h"

namespace auger {

// To be called when all else has been added. Functions are found by symbols, and by what these
// call. Returns how many were added; the work is bounded by a fixed amount of code.
uint64_t add_uncovered_code(const ElfFile& file, TableBuilder& builder);

} // namespace auger
