// SPDX-License-Identifier: GPL-3.0-or-later
// The span of time that views show.
#pragma once

#include <cmath>
#include <cstdint>

namespace auger {

struct Window {
    enum class Kind : uint8_t {
        all,  // everything that is kept
        last, // the last span_ns
        ewma, // everything, fading with time constant span_ns
    };
    Kind kind = Kind::all;
    uint64_t span_ns = 0;

    // The weight of something that happened at `time_ns`, seen from `now_ns`.
    double weight(uint64_t time_ns, uint64_t now_ns) const {
        if (kind == Kind::all || time_ns >= now_ns)
            return 1;
        uint64_t age = now_ns - time_ns;
        if (kind == Kind::last)
            return age <= span_ns ? 1 : 0;
        return span_ns ? std::exp(-static_cast<double>(age) / static_cast<double>(span_ns)) : 0;
    }
    friend bool operator==(const Window&, const Window&) = default;
};

} // namespace auger
