// SPDX-License-Identifier: GPL-3.0-or-later
// The checksum of a recording's header and blocks. Changes with the format (format.h).
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace auger {

// CRC-32 as zlib has it, of the bytes behind those that `before` is the checksum of.
inline uint32_t checksum(std::string_view bytes, uint32_t before = 0) {
    return static_cast<uint32_t>(
        crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace auger
