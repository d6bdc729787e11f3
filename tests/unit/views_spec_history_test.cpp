// SPDX-License-Identifier: GPL-3.0-or-later
// The history of one function's calls: what windows say of it beside what is counted here, and how
// much memory it takes.
#include "views/model/spec_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace auger {
namespace {

constexpr uint64_t tenth = 100'000'000; // of a second: counters are read so often

// Some calls that were counted at a time.
StatsEvent calls_at(uint64_t time_ns, uint64_t calls, uint32_t bucket) {
    StatsEvent event;
    event.time_ns = time_ns;
    event.entries = event.returns = calls;
    event.sum_ns = calls * bucket_low(bucket);
    event.buckets = {{bucket, calls}};
    return event;
}

class History : public testing::Test {
  protected:
    void add(const StatsEvent& event, size_t bytes = SpecHistory::most_bytes) {
        history.add(event, bytes);
        events.push_back(event);
        now = event.time_ns;
    }
    // Until `end`, calls that were counted behind `since`.
    double counted(uint64_t since, uint64_t end) const {
        double sum = 0;
        for (const StatsEvent& event : events)
            if (event.time_ns >= since && event.time_ns <= end)
                sum += static_cast<double>(event.entries);
        return sum;
    }
    // A window's edges may be off by a thousandth of their age, into the past: what happened then
    // is told with what came up to so much later.
    void expect_right(const Window& window) const {
        const CallStatistics found = history.query(window, now);
        const uint64_t end = window.until(now), begin = window.since(0, now);
        ASSERT_LE(found.from_ns, end);
        if (found.from_ns > begin)
            return; // given up, and said to be
        const auto off = [&](uint64_t time) { return (now - time) / SpecHistory::resolution; };
        EXPECT_GE(found.entries, counted(begin, end - off(end)));
        EXPECT_LE(found.entries, counted(begin - std::min(begin, off(begin)), end));
        EXPECT_EQ(found.entries, found.returns);
        EXPECT_EQ(found.durations.total(), found.returns);
    }

    SpecHistory history;
    std::vector<StatsEvent> events;
    uint64_t now = 0;
};

// Ten buckets and what else is counted are 232 bytes. What is older than 100 s is a thousand
// differences for each e-fold of its age, so three hours take ln(108) * 232 kB = 1.1 MB, and a day
// 1.6.
TEST_F(History, OfHoursIsKeptInAMegabyteOrTwo) {
    constexpr size_t bytes = 2 << 20;
    constexpr uint64_t three_hours = 108'000;
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < three_hours; i++)
        add(calls_at((10'000 + i) * tenth, 1 + random() % 3, 100 + random() % 10), bytes);
    EXPECT_LE(history.memory_bytes(), 2 * bytes + sizeof history + 4'096);
    EXPECT_EQ(history.query({}, now).entries, counted(0, now));
    // Nothing is given up: all of it is in a window of more than that.
    const CallStatistics all = history.query({Window::Kind::last, 200'000 * tenth}, now);
    EXPECT_EQ(all.entries, counted(0, now));
    EXPECT_EQ(all.from_ns, 0u);
    for (int i = 0; i < 100; i++) {
        const uint64_t end = now - random() % (three_hours * tenth);
        expect_right({Window::Kind::last, random() % (now - end + 100 * tenth), end});
    }
}

TEST_F(History, AreExactWhileThereIsRoom) {
    for (uint64_t i = 1; i <= 1'000; i++)
        add(calls_at(i * tenth, i, 100));
    for (uint64_t end = 10; end <= 1'000; end += 7) {
        const Window window{Window::Kind::last, 9 * tenth, end * tenth};
        EXPECT_EQ(history.query(window, now).entries, counted((end - 9) * tenth, end * tenth));
    }
}

// Calls a minute apart are not added up with others that are not of about the same time.
TEST_F(History, OfRareCallsSaysWhenTheyWere) {
    for (uint64_t i = 1; i <= 5'000; i++)
        add(calls_at(i * 600 * tenth, 1, 100), 100'000);
    for (uint64_t end = 4'500; end <= 5'000; end += 50)
        expect_right({Window::Kind::last, 10'000 * tenth, end * 600 * tenth + tenth});
}

TEST_F(History, ThatDoesNotFitIsGivenUpAndSaidToBe) {
    std::mt19937_64 random(2);
    size_t too_large = 0;
    for (uint64_t i = 1; i <= 20'000; i++) {
        StatsEvent event = calls_at(i * tenth, 2, 50 + random() % 200);
        event.buckets = {{event.buckets[0].index, 1}, {event.buckets[0].index + 1, 1}};
        add(event, 16'000);
        too_large += history.memory_bytes() > 2 * 16'000 + sizeof history + 4'096;
    }
    EXPECT_EQ(too_large, 0u);
    const CallStatistics found = history.query({Window::Kind::last, 19'000 * tenth}, now);
    EXPECT_GT(found.from_ns, now - 19'000 * tenth);
    EXPECT_EQ(found.entries, counted(found.from_ns + 1, now));
    WeightedHistogram durations;
    for (const StatsEvent& event : events)
        for (const StatsEvent::Bucket& bucket : event.buckets)
            if (event.time_ns > found.from_ns)
                durations.add_bucket(bucket.index, static_cast<double>(bucket.count));
    for (uint32_t i = 0; i < 300; i++)
        EXPECT_EQ(found.durations.count(i), durations.count(i)) << i;
}

// What spans alone have is added up with the rest, and stays with it.
TEST_F(History, SumsOfSpansStayWithTheirCalls) {
    for (uint64_t i = 1; i <= 20'000; i++) {
        StatsEvent event = calls_at(i * tenth, 1, 100 + i % 5);
        if (i % 3 == 0)
            event.span.queued_ns = i;
        if (i % 7 == 0)
            event.span.ambiguous.early = 1;
        add(event, 1'000'000);
    }
    const CallStatistics found = history.query({Window::Kind::last, 15'000 * tenth}, now);
    double queued = 0, early = 0;
    for (const StatsEvent& event : events) {
        if (event.time_ns <= found.from_ns)
            continue;
        queued += static_cast<double>(event.span.queued_ns);
        early += static_cast<double>(event.span.ambiguous.early);
    }
    EXPECT_EQ(found.span.queued, queued);
    EXPECT_EQ(found.ambiguous.early, early);
}

} // namespace
} // namespace auger
