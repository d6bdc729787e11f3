// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindOrigin of ELF files.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/unwind/unwind_file.h"

namespace auger {

// Tables of the file, as bytes that tell what they are of.
std::vector<std::byte> encode_unwind_file(const UnwindTables& tables, const ElfFile& file);

// Whether whole bytes were made of this very file, as it is now.
bool is_unwind_file_of(Bytes bytes, const ElfFile& file);

} // namespace auger
