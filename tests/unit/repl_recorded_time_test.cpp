// SPDX-License-Identifier: GPL-3.0-or-later
// A moment of recordings, as it is typed and what it comes to.
#include "loader/base/read_clock.h"
#include "repl/language/recorded_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace auger {
namespace {

using testing::HasSubstr;
using Kind = RecordedTime::Kind;

constexpr uint64_t minute_ns = 60 * second_ns, hour_ns = 60 * minute_ns;
// 2026-11-21T23:20:00Z.
constexpr uint64_t moment = 1'795'303'200 * second_ns;

class RecordedTimes : public testing::Test {
  protected:
    RecordedTimes() { be_in("CET-1"); }
    ~RecordedTimes() override {
        unsetenv("TZ");
        tzset();
    }
    static void be_in(const char* zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    static RecordedTime read(const std::string& text) {
        auto time = parse_recorded_time(text);
        EXPECT_TRUE(time) << text << ": " << time.complaint().message;
        return time ? *time : RecordedTime();
    }
    static std::string wrong(const std::string& text) {
        auto time = parse_recorded_time(text);
        EXPECT_FALSE(time) << text;
        if (time)
            return "";
        return std::to_string(time.complaint().at.offset) + "+" +
               std::to_string(time.complaint().at.length) + ": " + time.complaint().message;
    }
};

TEST_F(RecordedTimes, DaysAndTimes) {
    for (const char* text : {"2026-11-21T23:20:00Z", "2026-11-21T23:20Z", "2026-11-22T00:20",
                             "2026-11-22 00:20:00", "2026-11-22T00:20:00+01:00",
                             "2026-11-21T18:20:00-0500", "20261121T232000.000Z", "20261122T0020"})
        EXPECT_EQ(read(text), (RecordedTime{Kind::wall, moment})) << text;
    EXPECT_EQ(read("2026-11-21T23:20:07.25Z").ns, moment + 7'250'000'000);
    EXPECT_EQ(read("2026-11-22").ns, moment - 20 * minute_ns) << "midnight where TZ says";
    be_in("UTC0");
    EXPECT_EQ(read("2026-11-21T23:20").ns, moment);
}

TEST_F(RecordedTimes, TimesOfDayAndSpans) {
    EXPECT_EQ(read("23:20"), (RecordedTime{Kind::time_of_day, 23 * hour_ns + 20 * minute_ns}));
    EXPECT_EQ(read("07:05:09.5Z"),
              (RecordedTime{Kind::time_of_day, 7 * hour_ns + 5 * minute_ns + 9'500'000'000, true}));
    EXPECT_EQ(read("-15m"), (RecordedTime{Kind::before_end, 15 * minute_ns}));
    EXPECT_EQ(read("+1.5s"), (RecordedTime{Kind::after_begin, 1'500'000'000}));
}

TEST_F(RecordedTimes, ComplaintsSayWhere) {
    EXPECT_EQ(wrong("25:10"), "0+5: this is not of a time");
    EXPECT_EQ(wrong("23:61"), "3+2: this is not of a time");
    EXPECT_EQ(wrong("23:2"), "4+0: the time ends too early");
    EXPECT_EQ(wrong("2026-13-01"), "5+5: this is not of a time");
    EXPECT_EQ(wrong("2026-11-21T23:20X"), "16+1: this is not of a time");
    EXPECT_EQ(wrong("2026-11-21T"), "11+0: the time ends too early");
    EXPECT_EQ(wrong("-15x"), "1+3: this is no duration");
    EXPECT_EQ(wrong("-"), "1+0: this is no duration");
    EXPECT_EQ(wrong("yesterday"), "0+9: this is no time");
    EXPECT_EQ(wrong(""), "0+0: this is no time");
    EXPECT_THAT(parse_recorded_time("now").complaint().hint, HasSubstr("-15m (before the end)"));
}

TEST_F(RecordedTimes, WhatTheyComeTo) {
    // From 22:00 to 02:10, where TZ says.
    const TimeRange whole{read("2026-11-21T22:00").ns, read("2026-11-22T02:10").ns};
    const auto range = [&](const char* from, const char* to) {
        return resolve(*from ? std::optional(read(from)) : std::nullopt,
                       *to ? std::optional(read(to)) : std::nullopt, whole);
    };
    const auto at = [](const char* text) { return read(text).ns; };
    EXPECT_EQ(range("", ""), TimeRange());
    EXPECT_EQ(range("-15m", ""), (TimeRange{at("2026-11-22T01:55"), UINT64_MAX}));
    EXPECT_EQ(range("+10m", "-1h"), (TimeRange{at("2026-11-21T22:10"), at("2026-11-22T01:10")}));
    EXPECT_EQ(range("01:30", "01:45"), (TimeRange{at("2026-11-22T01:30"), at("2026-11-22T01:45")}));
    EXPECT_EQ(range("23:00", "23:30"), (TimeRange{at("2026-11-21T23:00"), at("2026-11-21T23:30")}));
    EXPECT_EQ(range("23:00", "01:00"), (TimeRange{at("2026-11-21T23:00"), at("2026-11-22T01:00")}));
    EXPECT_EQ(range("", "23:00"), (TimeRange{0, at("2026-11-21T23:00")}));
    EXPECT_EQ(range("", "15:00"), (TimeRange{0, at("2026-11-22T15:00")})) << "all of it";
    EXPECT_EQ(range("00:30Z", ""), (TimeRange{at("2026-11-22T01:30"), UINT64_MAX}));
    EXPECT_EQ(range("-90h", "").from_ns, whole.to_ns - 90 * hour_ns);
    EXPECT_EQ(resolve(RecordedTime{Kind::before_end, UINT64_MAX}, {}, whole).from_ns, 0u);
    EXPECT_EQ(resolve(RecordedTime{Kind::after_begin, UINT64_MAX}, {}, whole).from_ns, UINT64_MAX);
}

} // namespace
} // namespace auger
