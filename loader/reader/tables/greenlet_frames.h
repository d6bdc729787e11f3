// SPDX-License-Identifier: GPL-3.0-or-later
// Where the stacks of Python's greenlets begin. A greenlet has a part of the thread's stack, which
// is copied away while another one runs there; what lies behind its part is of others.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/table_builder.h"

namespace auger {

// Adds the function in which greenlets begin (greenlet 2.0 and later), if the file is theirs.
void add_greenlet_begins(const ElfFile& file, TableBuilder& builder);

} // namespace auger
