// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindTables as the bytes of a file, and back. The bytes that come back are believed only when
// their checksum holds and every index is within its bounds.
#pragma once

#include "loader/unwind/unwind_compiler.h"

#include <optional>

namespace auger {

std::vector<std::byte> encode_unwind_file(const UnwindTables& tables, const ElfFile& file);

// Nothing when they are broken, or of another version.
std::optional<UnwindTables> decode_unwind_file(Bytes bytes);

// Whether whole bytes were made of this very ELF file, as it is now.
bool is_unwind_file_of(Bytes bytes, const ElfFile& file);

} // namespace auger
