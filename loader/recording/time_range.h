// SPDX-License-Identifier: GPL-3.0-or-later
// TimeRange: the part of recordings that is wanted, in whichever clock. Changes with what can be
// asked of recordings.
#pragma once

#include <cstdint>

namespace auger {

struct TimeRange {
    uint64_t from_ns = 0, to_ns = UINT64_MAX; // both are in it

    bool whole() const { return *this == TimeRange(); }
    bool contains(uint64_t time_ns) const { return time_ns >= from_ns && time_ns <= to_ns; }
    friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

} // namespace auger
