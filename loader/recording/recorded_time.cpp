// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recorded_time.h"

#include "loader/base/read_clock.h"

#include <algorithm>
#include <ctime>

namespace auger {
namespace {

// That time of day on the day of `at`, or so many days later.
uint64_t on_day_of(uint64_t at, const RecordedTime& time, int days) {
    const auto seconds = static_cast<time_t>(at / second_ns);
    tm day{};
    if (time.utc)
        gmtime_r(&seconds, &day);
    else
        localtime_r(&seconds, &day);
    const uint64_t second = time.ns / second_ns;
    day.tm_hour = static_cast<int>(second / 3'600);
    day.tm_min = static_cast<int>(second / 60 % 60);
    day.tm_sec = static_cast<int>(second % 60);
    day.tm_mday += days;
    day.tm_isdst = -1;
    const time_t then = time.utc ? timegm(&day) : mktime(&day);
    return then < 0 ? 0 : static_cast<uint64_t>(then) * second_ns + time.ns % second_ns;
}

uint64_t last_until(uint64_t end, const RecordedTime& time) {
    const uint64_t today = on_day_of(end, time, 0);
    return today <= end ? today : on_day_of(end, time, -1);
}

uint64_t first_from(uint64_t begin, const RecordedTime& time) {
    const uint64_t today = on_day_of(begin, time, 0);
    return today >= begin ? today : on_day_of(begin, time, 1);
}

// What does not depend on the other end of the range.
uint64_t resolve_one(const RecordedTime& time, const TimeRange& whole) {
    switch (time.kind) {
    case RecordedTime::Kind::wall:
        return time.ns;
    case RecordedTime::Kind::time_of_day:
        return last_until(whole.to_ns, time);
    case RecordedTime::Kind::before_end:
        return whole.to_ns - std::min(whole.to_ns, time.ns);
    default:
        return whole.from_ns + std::min(UINT64_MAX - whole.from_ns, time.ns);
    }
}

} // namespace

TimeRange resolve(const std::optional<RecordedTime>& from, const std::optional<RecordedTime>& to,
                  const TimeRange& whole) {
    TimeRange range;
    if (from)
        range.from_ns = resolve_one(*from, whole);
    if (!to)
        return range;
    if (to->kind != RecordedTime::Kind::time_of_day) {
        range.to_ns = resolve_one(*to, whole);
    } else if (from) {
        range.to_ns = first_from(range.from_ns, *to);
    } else {
        range.to_ns = last_until(whole.to_ns, *to);
        if (range.to_ns < whole.from_ns)
            range.to_ns = first_from(whole.from_ns, *to);
    }
    return range;
}

} // namespace auger
