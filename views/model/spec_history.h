// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of one spec: totals, and a bounded history of differences from which any window is
// summed up when somebody asks.
#pragma once

#include "loader/stream/events.h"
#include "views/model/call_statistics.h"
#include "views/model/window.h"

#include <deque>
#include <span>
#include <vector>

namespace auger {

// Returned calls of which a mark is known. Fractional only under an ewma window.
struct MarkCounts {
    double taken = 0;
    double not_taken = 0;

    double known() const { return taken + not_taken; }
    MarkCounts& operator+=(const MarkCounts& other) {
        taken += other.taken;
        not_taken += other.not_taken;
        return *this;
    }
};

// Differences come as they are read, ten times a second. Where they would take more than they may,
// neighbours are added up, as long as no more than a thousandth of their age lies between them: so
// much are a window's edges off then, at most. What does not fit even so is given up, the oldest
// first.
class SpecHistory {
  public:
    // Of differences, in bytes: a day of a function with ten buckets of durations in use.
    static constexpr size_t most_bytes = size_t{4} << 20;
    static constexpr uint64_t resolution = 1'000; // parts of an age
    // Differences of marks kept at most: they are few and small, but counts since a mark began
    // should be whole.
    static constexpr size_t max_marks = 1'000'000;

    // `bytes`: what the differences may take from now on.
    void add(const StatsEvent& event, size_t bytes = most_bytes);
    CallStatistics query(const Window& window, uint64_t now_ns) const;
    // Of the mark that has this bit since `since_ns`.
    MarkCounts marks(uint32_t bit, uint64_t since_ns, const Window& window, uint64_t now_ns) const;
    const CallStatistics& totals() const { return totals_; }
    // Of all, as allocated.
    size_t memory_bytes() const;

  private:
    struct Difference {
        uint64_t first_ns = 0, time_ns = 0; // of the differences that it is the sum of
        uint64_t entries = 0;
        uint64_t returns = 0;
        uint64_t unwound = 0;
        uint64_t dropped = 0;
        uint64_t filtered = 0;
        uint64_t sum_ns = 0;
        uint64_t nested_ns = 0;
        uint32_t buckets = 0;  // how many of `buckets` are its own
        bool has_span = false; // and one of `spans`
    };
    // The oldest first.
    struct Differences {
        std::vector<Difference> all;
        std::vector<StatsEvent::Bucket> buckets;
        std::vector<SpanCounts> spans;

        size_t bytes() const;
        void add(const Difference& difference, std::span<const StatsEvent::Bucket> buckets,
                 const SpanCounts* span);
    };
    struct Marked {
        uint64_t time_ns;
        StatsEvent::MarkCount count;
    };

    bool may_merge_many() const;
    void merge_neighbours();
    void give_up_oldest(size_t bytes);

    CallStatistics totals_;
    Differences history_;
    std::deque<Marked> marks_;
    uint64_t given_up_until_ns_ = 0; // history begins after this; 0: complete
};

} // namespace auger
