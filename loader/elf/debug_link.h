// SPDX-License-Identifier: GPL-3.0-or-later
// DebugLink: what a file's section .gnu_debuglink says of its separate debug file.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

struct DebugLink {
    std::string file_name;
    uint32_t crc; // CRC-32 of that file, as zlib computes it
    friend bool operator==(const DebugLink&, const DebugLink&) = default;
};

} // namespace auger
