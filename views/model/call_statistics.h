// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of one spec: totals, and a bounded history of differences from which any window is
// summed up when somebody asks.
#pragma once

#include "loader/stats/histogram.h"
#include "loader/stream/events.h"
#include "views/model/window.h"

#include <array>
#include <deque>

namespace auger {

// Where the time of spans went that returned, and of goroutines' calls that did and were watched,
// in nanoseconds: duration = attached + queued + parked, and of what was watched (`watched`, of
// `attached`) cpu = watched - blocked - runnable.
struct SpanTimes {
    double attached = 0;
    double queued = 0;
    double parked = 0;
    double watched = 0;
    double blocked = 0;
    double runnable = 0;
    // Of goroutines: what they were parked for; adds up to `parked`.
    std::array<double, park_reasons> parked_for{};

    double sum() const { return attached + queued + parked; }
    void add(const SpanTimes& other, double weight);
};

// Exchanges that do not count, by why: see AmbiguousCounts.
struct Ambiguous {
    double early = 0;
    double unasked = 0;
    double tls = 0;
    double http2 = 0;

    void add(const Ambiguous& other, double weight);
};

// Calls in a window. Fractional only under an ewma window. Outside of ewma windows
// entries = returns + unwound + dropped + filtered + expired + (open now - open when the window
// began).
struct CallStatistics {
    double entries = 0;
    double returns = 0;
    double unwound = 0;
    double dropped = 0;
    double filtered = 0; // `only PROBE if ...` did not hold, or the exchange is ambiguous
    Ambiguous ambiguous{};
    double expired = 0;  // spans that were open for longer than their limit
    SpanTimes span{};    // of returned spans, or goroutines' calls
    double stray = 0;    // ends that found no span to end
    double sum_ns = 0;
    int64_t open = 0;    // now, whatever the window
    uint64_t min_ns = 0; // exact for Window::all, else the bounds of the buckets in use
    uint64_t max_ns = 0;
    WeightedHistogram durations; // of returned calls
    // What the window really covers: later than asked for when history was given up.
    uint64_t from_ns = 0;

    // Calls but those that do not count.
    double counted() const { return entries - filtered; }
    // Quantile clamped to [min, max]; 0 when no call has returned.
    double quantile(double q) const;
    void merge(const CallStatistics& other);
};

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

class SpecHistory {
  public:
    // Differences kept at most: bounds the memory of a spec to about 16 bytes a bucket kept.
    static constexpr size_t max_buckets = 200'000;
    // Differences of marks kept at most: they are few and small, but counts since a mark began
    // should be whole.
    static constexpr size_t max_marks = 1'000'000;

    void add(const StatsEvent& event);
    CallStatistics query(const Window& window, uint64_t now_ns) const;
    // Of the mark that has this bit since `since_ns`.
    MarkCounts marks(uint32_t bit, uint64_t since_ns, const Window& window, uint64_t now_ns) const;
    const CallStatistics& totals() const { return totals_; }
    size_t memory_bytes() const {
        return sizeof *this + history_.size() * sizeof(StatsEvent) +
               history_buckets_ * sizeof(StatsEvent::buckets[0]) +
               totals_.durations.end_bucket() * sizeof(double) + marks_.size() * sizeof(Marked);
    }

  private:
    CallStatistics totals_;
    struct Marked {
        uint64_t time_ns;
        StatsEvent::MarkCount count;
    };
    std::deque<StatsEvent> history_;
    std::deque<Marked> marks_;
    size_t history_buckets_ = 0;
    uint64_t given_up_until_ns_ = 0; // history begins after this; 0: complete
};

} // namespace auger
