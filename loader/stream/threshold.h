// SPDX-License-Identifier: GPL-3.0-or-later
// Which calls of a probe are slow, or traced, as the user has said it.
#pragma once

#include <cstdint>

namespace auger {

// How a probe's threshold is meant: a fixed duration, or a percentile of its own recent calls. A
// fixed one of 0 is exceeded by every call, and each time that a place is reached.
struct Threshold {
    enum class Kind : uint8_t { none = 0, fixed = 1, percentile = 2 };
    Kind kind = Kind::none;
    uint64_t fixed_ns = 0;
    double percentile = 0; // in (0, 100)
    bool is_of_every_call() const { return kind == Kind::fixed && fixed_ns == 0; }
    friend bool operator==(const Threshold&, const Threshold&) = default;
};

// Of `trace`.
inline constexpr Threshold every_call{Threshold::Kind::fixed};

} // namespace auger
