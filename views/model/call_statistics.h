// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of calls: how many, how long, and where their time went.
#pragma once

#include "loader/stats/histogram.h"
#include "loader/stream/events.h"

#include <algorithm>
#include <array>

namespace auger {

// Where the time of spans went that returned, and of goroutines' calls that did and were watched,
// in nanoseconds: duration = attached + queued + parked, and of what was watched (`watched`, of
// `attached`) cpu = watched - blocked - runnable. Of spans, what the durations are more than that
// is time in which a goroutine or a task worked for one of which it is not known when it was
// parked.
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
    // Of spans that took so long together.
    double served_or_parked(double durations) const { return std::max(durations - sum(), 0.0); }
    // Whether that is so little as rounding and one reading of many counters may leave.
    bool is_park_known(double durations) const {
        return served_or_parked(durations) <= 0.001 * durations;
    }
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
    double expired = 0; // spans that were open for longer than their limit
    SpanTimes span{};   // of returned spans, or goroutines' calls
    double stray = 0;   // ends that found no span to end
    double sum_ns = 0;
    double nested_ns = 0; // of sum_ns: in other timed calls
    bool is_nested_known = true;
    int64_t open = 0;    // now, whatever the window
    uint64_t min_ns = 0; // exact for Window::all, else the bounds of the buckets in use
    uint64_t max_ns = 0;
    WeightedHistogram durations; // of returned calls
    // What the window really covers: later than asked for when history was given up.
    uint64_t from_ns = 0;

    // Whether that is so, outside of windows.
    bool add_up() const {
        return entries ==
               returns + unwound + dropped + filtered + expired + static_cast<double>(open);
    }
    // Calls but those that do not count.
    double counted() const { return entries - filtered; }
    // What the returned calls took without the timed calls nested in them.
    double self_ns() const { return std::max(sum_ns - nested_ns, 0.0); }
    // Quantile clamped to [min, max]; 0 when no call has returned.
    double quantile(double q) const;
    void merge(const CallStatistics& other);
};

} // namespace auger
