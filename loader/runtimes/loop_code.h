// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace auger {

// The code of an interpreter's loop, whose native frames run the language's: its body, and the part
// of it that the compiler has put elsewhere. Sizes are 0 when there is none.
struct LoopCode {
    uint64_t body = 0, body_size = 0;
    uint64_t cold = 0, cold_size = 0;

    bool holds(uint64_t code) const {
        return code - body < body_size || code - cold < cold_size;
    }
    friend bool operator==(const LoopCode&, const LoopCode&) = default;
};

} // namespace auger
