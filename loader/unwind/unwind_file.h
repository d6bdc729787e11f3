// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindTables as the bytes of a file, and back. The bytes that come back are believed only when
// their checksum holds and every index is within its bounds.
#pragma once

#include "loader/unwind/byte_cursor.h"
#include "loader/unwind/unwind_tables.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

// What tables were made of, by hashes that only the owner of the bytes can know of.
struct UnwindOrigin {
    uint64_t seed;     // of both hashes, that of the origin and that of the bytes
    uint64_t identity; // hash of all that went into the tables
    friend bool operator==(const UnwindOrigin&, const UnwindOrigin&) = default;
};

std::vector<std::byte> encode_unwind_file(const UnwindTables& tables, const UnwindOrigin& origin);

// Nothing when they are broken, or of another version.
std::optional<UnwindTables> decode_unwind_file(Bytes bytes);

// Of whole bytes; `statistics` are those of their tables.
std::optional<UnwindOrigin> origin_of_unwind_file(Bytes bytes, UnwindStatistics& statistics);

} // namespace auger
