// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram whose counts fade with time constant tau: a call that ended t ago weighs exp(-t/tau).
// Time is a parameter, so it makes no difference how often anybody looks.
#pragma once

#include "loader/stats/histogram.h"

namespace auger {

class DecayedHistogram {
  public:
    // tau_s: seconds, > 0.
    explicit DecayedHistogram(double tau_s) : tau_ns_(tau_s * 1e9) {}

    // Adds calls that ended at `time_ns`. Late events (before the latest seen) come in faded.
    void add(uint64_t time_ns, uint64_t value_ns, double count = 1);
    void add_bucket(uint64_t time_ns, uint32_t bucket, double count);

    // A quantile does not depend on the moment: all weights fade alike.
    double quantile(double q) const { return histogram_.quantile(q); }
    // The sum of weights at `time_ns`.
    double weight(uint64_t time_ns) const;

  private:
    double weight_of(uint64_t time_ns);

    double tau_ns_;
    uint64_t reference_ns_ = 0; // weights in histogram_ are as of this time
    WeightedHistogram histogram_;
};

} // namespace auger
