// SPDX-License-Identifier: GPL-3.0-or-later
// A number that nobody else has: for what is told apart by chance. Hardly ever changes.
#pragma once

#include <cstdint>
#include <random>

namespace auger {

// Never 0.
inline uint64_t random_number() {
    std::random_device random;
    const uint64_t number = uint64_t{random()} << 32 | random();
    return number ? number : 1;
}

} // namespace auger
