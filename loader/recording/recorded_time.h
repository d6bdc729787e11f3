// SPDX-License-Identifier: GPL-3.0-or-later
// RecordedTime: a moment of recordings as a user names it, and what it comes to in recordings that
// are from one time to another. Changes with how times may be named.
#pragma once

#include "loader/recording/time_range.h"

#include <cstdint>
#include <optional>

namespace auger {

struct RecordedTime {
    enum class Kind : uint8_t {
        wall,        // ns since 1970
        time_of_day, // ns since midnight, where TZ says or at UTC
        before_end,  // of the recordings, in ns
        after_begin, // likewise
    };
    Kind kind = Kind::wall;
    uint64_t ns = 0;
    bool utc = false; // a time of day

    // It makes no sense without a clock on the wall.
    bool needs_wall_clock() const { return kind == Kind::wall || kind == Kind::time_of_day; }
    friend bool operator==(const RecordedTime&, const RecordedTime&) = default;
};

// Of recordings from and to the times of `whole`. A time of day is the last one that they had; as
// an end, the first one after the beginning that was asked for.
TimeRange resolve(const std::optional<RecordedTime>& from, const std::optional<RecordedTime>& to,
                  const TimeRange& whole);

} // namespace auger
