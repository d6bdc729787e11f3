// SPDX-License-Identifier: GPL-3.0-or-later
// SourceFrame: one source-level function at an address.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

struct SourceFrame {
    std::string function; // may be empty
    std::string file;     // may be empty
    uint32_t line = 0;    // 0: not known
    bool inlined = false;
};

} // namespace auger
