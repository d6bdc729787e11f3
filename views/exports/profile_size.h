// SPDX-License-Identifier: GPL-3.0-or-later
// How large a profile has become, as receivers limit it.
#pragma once

#include <cstdint>

namespace auger {

struct ProfileSize {
    uint64_t samples = 0; // taken
    uint64_t entries = 0; // what they are told as: those that agree are one
    uint64_t bytes = 0;   // before compression
};

} // namespace auger
