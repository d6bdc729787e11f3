// SPDX-License-Identifier: GPL-3.0-or-later
// Turns "p95" into nanoseconds: follows the decayed distribution of a probe's returned calls. The
// live backend uses it for slow calls and the model for the split; both feed it the same events, so
// they agree, and a replay agrees with the live session.
#pragma once

#include "loader/stats/decayed_histogram.h"
#include "loader/stream/events.h"

namespace auger {

struct ThresholdState {
    enum class Kind {
        none,      // no threshold was asked for
        fixed,     // value_ns is what was asked for
        warming,   // a percentile that has seen too few calls: there is no value yet
        following, // value_ns follows the calls
    };
    Kind kind = Kind::none;
    uint64_t value_ns = 0;     // valid when fixed or following
    uint64_t calls = 0;        // returned calls seen so far
    uint64_t calls_needed = 0; // for the warm-up: ceil(5 / (1 - q))

    bool in_force() const { return kind == Kind::fixed || kind == Kind::following; }
};

class ThresholdFollower {
  public:
    static constexpr double default_tau_s = 60;
    // A published value changes only when the percentile has moved by more than this share.
    static constexpr double hysteresis = 0.01;

    explicit ThresholdFollower(const Threshold& threshold = {}, double tau_s = default_tau_s);

    // Another threshold on the same calls: what was learned so far stays.
    void set_threshold(const Threshold& threshold);
    const Threshold& threshold() const { return threshold_; }

    // Events of every spec of the probe, in the order of the stream. Returns true when the value in
    // force changed.
    bool on_stats(const StatsEvent& event);

    ThresholdState state() const;

  private:
    bool publish(bool always);

    Threshold threshold_;
    DecayedHistogram recent_;
    uint64_t calls_ = 0;
    uint64_t published_ns_ = 0; // 0: nothing yet
};

} // namespace auger
