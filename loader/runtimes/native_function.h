// SPDX-License-Identifier: GPL-3.0-or-later
// The native function that a name in a language stands for: what its runtime calls for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

struct NativeFunction {
    // In the process: each call is one of one of them. Empty: there is none.
    std::vector<uint64_t> addresses{};
    std::string problem{}; // then: why
    std::string hint{};    // ... and what works; empty: nothing is known to
    bool may_come = false; // ... and whether there may be one later
};

} // namespace auger
