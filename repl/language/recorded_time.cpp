// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/recorded_time.h"

#include "loader/base/read_clock.h"
#include "repl/language/values.h"

#include <algorithm>
#include <ctime>
#include <optional>

namespace auger {
namespace {

constexpr const char* forms =
    "as 2026-11-21T23:20, 2026-11-21T23:20:00Z, 23:20, -15m (before the end) or +10m (after the "
    "beginning)";

// Reads a text from its beginning; what is not there fails where it should be.
class TimeText {
  public:
    explicit TimeText(std::string_view text) : text_(text) {}

    bool failed() const { return failed_; }
    bool at_end() const { return at_ == text_.size(); }
    size_t at() const { return at_; }
    bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
    bool take_if(char c) {
        const bool is = next_is(c);
        at_ += is;
        return is;
    }
    void expect(char c) {
        if (!failed_ && !take_if(c))
            failed_ = true;
    }
    // Just so many digits, up to a number.
    uint64_t number(size_t digits, uint64_t least, uint64_t most) {
        const size_t begin = at_;
        uint64_t value = 0;
        for (size_t i = 0; i < digits && !failed_; i++, at_++) {
            if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9')
                failed_ = true;
            else
                value = 10 * value + static_cast<uint64_t>(text_[at_] - '0');
            if (failed_)
                break;
        }
        if (!failed_ && (value < least || value > most)) {
            at_ = begin;
            failed_ = true;
        }
        return value;
    }
    // Behind a second's point, in ns.
    uint64_t fraction() {
        uint64_t value = 0, scale = second_ns / 10;
        const size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++, scale /= 10)
            value += scale * static_cast<uint64_t>(text_[at_] - '0');
        failed_ |= at_ == begin;
        return value;
    }
    // How many digits stand here.
    size_t digits() const {
        size_t count = 0;
        while (at_ + count < text_.size() && text_[at_ + count] >= '0' && text_[at_ + count] <= '9')
            count++;
        return count;
    }

  private:
    std::string_view text_;
    size_t at_ = 0;
    bool failed_ = false;
};

// HH:MM, HH:MM:SS or HH:MM:SS.FFF, or without colons as in names of files, in ns.
uint64_t time_of_day(TimeText& in) {
    const bool colons = in.digits() == 2;
    uint64_t seconds = in.number(2, 0, 23) * 3'600;
    if (colons)
        in.expect(':');
    seconds += in.number(2, 0, 59) * 60;
    const bool has_seconds = colons ? in.take_if(':') : in.digits() > 0;
    if (in.failed() || !has_seconds)
        return seconds * second_ns;
    seconds += in.number(2, 0, 60);
    const uint64_t part = in.take_if('.') ? in.fraction() : 0;
    return seconds * second_ns + part;
}

// Behind a time: seconds that its clock is ahead of UTC, 0 for Z; nothing: it stands where TZ says.
std::optional<int64_t> zone(TimeText& in) {
    if (in.take_if('Z'))
        return 0;
    if (!in.next_is('+') && !in.next_is('-'))
        return std::nullopt;
    const int64_t sign = in.take_if('-') ? -1 : 1;
    if (sign > 0)
        in.expect('+');
    auto seconds = static_cast<int64_t>(in.number(2, 0, 14) * 3'600);
    in.take_if(':');
    seconds += static_cast<int64_t>(in.number(2, 0, 59) * 60);
    return sign * seconds;
}

RecordedTime day_and_time(TimeText& in) {
    const bool dashes = in.digits() == 4;
    tm day{};
    day.tm_year = static_cast<int>(in.number(4, 1970, 2'200)) - 1'900;
    if (dashes)
        in.expect('-');
    day.tm_mon = static_cast<int>(in.number(2, 1, 12)) - 1;
    if (dashes)
        in.expect('-');
    day.tm_mday = static_cast<int>(in.number(2, 1, 31));
    uint64_t of_day = 0;
    if (in.take_if('T') || in.take_if(' '))
        of_day = time_of_day(in);
    const auto ahead = zone(in);
    if (in.failed())
        return {};
    day.tm_sec = static_cast<int>(of_day / second_ns); // more than a minute's is carried over
    day.tm_isdst = -1;
    const int64_t seconds = ahead ? timegm(&day) - *ahead : mktime(&day);
    return {RecordedTime::Kind::wall,
            static_cast<uint64_t>(std::max<int64_t>(seconds, 0)) * second_ns + of_day % second_ns};
}

} // namespace

Parsed<RecordedTime> parse_recorded_time(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) {
        const auto span = read_duration(text.substr(1));
        if (!span)
            return Complaint{{1, text.size() - 1}, "this is no duration", "as 15m, 90s or 2h"};
        return RecordedTime{text.front() == '-' ? RecordedTime::Kind::before_end
                                                : RecordedTime::Kind::after_begin,
                            *span};
    }
    TimeText in(text);
    RecordedTime time;
    if (in.digits() == 2) {
        time = {RecordedTime::Kind::time_of_day, time_of_day(in)};
        time.utc = !in.failed() && in.take_if('Z');
    } else if (in.digits() == 4 || in.digits() == 8) {
        time = day_and_time(in);
    } else {
        return Complaint{{0, text.size()}, "this is no time", forms};
    }
    if (in.failed() || !in.at_end())
        return Complaint{{in.at(), text.size() - in.at()},
                         in.at() == text.size() ? "the time ends too early"
                                                : "this is not of a time",
                         forms};
    return time;
}

} // namespace auger
