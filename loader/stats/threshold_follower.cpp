// SPDX-License-Identifier: GPL-3.0-or-later
// A percentile becomes a value once enough calls lie beyond it to mean something: five of them.
#include "loader/stats/threshold_follower.h"

#include <cmath>

namespace auger {

namespace {

constexpr double calls_beyond_needed = 5;

uint64_t calls_needed(const Threshold& threshold) {
    double share_beyond = 1 - threshold.percentile / 100;
    if (!(share_beyond > 0))
        return UINT64_MAX; // p100 can never be exceeded
    double needed = std::ceil(calls_beyond_needed / share_beyond - 1e-6);
    return needed < 1e18 ? static_cast<uint64_t>(needed) : UINT64_MAX;
}

} // namespace

ThresholdFollower::ThresholdFollower(const Threshold& threshold, double tau_s)
    : threshold_(threshold), recent_(tau_s) {}

void ThresholdFollower::set_threshold(const Threshold& threshold) {
    threshold_ = threshold;
    published_ns_ = 0;
    publish(true);
}

bool ThresholdFollower::on_stats(const StatsEvent& event) {
    for (const StatsEvent::Bucket& bucket : event.buckets) {
        recent_.add_bucket(event.time_ns, bucket.index, static_cast<double>(bucket.count));
        calls_ += bucket.count;
    }
    return !event.buckets.empty() && publish(false);
}

bool ThresholdFollower::publish(bool always) {
    if (threshold_.kind != Threshold::Kind::percentile || calls_ < calls_needed(threshold_))
        return false;
    double value = recent_.quantile(threshold_.percentile / 100);
    double before = static_cast<double>(published_ns_);
    bool moved = published_ns_ == 0 || std::abs(value - before) > before * hysteresis;
    if (!moved && !always)
        return false;
    uint64_t rounded = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(value)));
    bool changed = rounded != published_ns_;
    published_ns_ = rounded;
    return changed;
}

ThresholdState ThresholdFollower::state() const {
    ThresholdState state;
    state.calls = calls_;
    switch (threshold_.kind) {
    case Threshold::Kind::none:
        break;
    case Threshold::Kind::fixed:
        state.kind = ThresholdState::Kind::fixed;
        state.value_ns = threshold_.fixed_ns;
        break;
    case Threshold::Kind::percentile:
        state.calls_needed = calls_needed(threshold_);
        state.value_ns = published_ns_;
        state.kind =
            published_ns_ ? ThresholdState::Kind::following : ThresholdState::Kind::warming;
        break;
    }
    return state;
}

} // namespace auger
