// SPDX-License-Identifier: GPL-3.0-or-later
// The native function that a name in a language stands for: what its runtime calls for it.
#pragma once

#include <cstdint>
#include <string>

namespace auger {

struct NativeFunction {
    uint64_t address = 0;  // in the process; 0: there is none
    std::string problem{}; // then: why
    std::string hint{};    // ... and what works; empty: nothing is known to
    bool may_come = false; // ... and whether there may be one later
};

} // namespace auger
