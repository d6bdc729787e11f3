// SPDX-License-Identifier: GPL-3.0-or-later
// What call frame information would say of Go's functions, which have none once a program is
// stripped, told from the table that Go's runtime itself unwinds by.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/table_builder.h"

namespace auger {

// Adds the functions of a Go program; how many.
uint64_t add_go_functions(const ElfFile& file, TableBuilder& builder);

} // namespace auger
