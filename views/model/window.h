// SPDX-License-Identifier: GPL-3.0-or-later
// The span of time that views show.
#pragma once

#include <algorithm>
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
    uint64_t end_ns = 0; // the moment that it ends at, for good; 0: it goes on to now

    // The moment from which it is looked back.
    uint64_t until(uint64_t now_ns) const { return end_ns ? end_ns : now_ns; }
    // The earliest moment that is in it, of those from first_ns on.
    uint64_t since(uint64_t first_ns, uint64_t now_ns) const {
        uint64_t end = until(now_ns);
        return kind == Kind::last && end > span_ns ? std::max(first_ns, end - span_ns) : first_ns;
    }
    // The weight of something that happened at `time_ns`, seen from `now_ns`.
    double weight(uint64_t time_ns, uint64_t now_ns) const {
        if (time_ns > until(now_ns))
            return end_ns ? 0 : 1;
        uint64_t age = until(now_ns) - time_ns;
        if (kind == Kind::all)
            return 1;
        if (kind == Kind::last)
            return age <= span_ns ? 1 : 0;
        if (age == 0)
            return 1;
        return span_ns ? std::exp(-static_cast<double>(age) / static_cast<double>(span_ns)) : 0;
    }
    friend bool operator==(const Window&, const Window&) = default;
};

} // namespace auger
