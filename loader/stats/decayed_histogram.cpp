// SPDX-License-Identifier: GPL-3.0-or-later
// Instead of fading all counts at every step, new calls weigh more: exp((t - reference) / tau). The
// whole is scaled down only when these weights grow large, which leaves every quantile as it is.
#include "loader/stats/decayed_histogram.h"

#include <cmath>

namespace auger {

namespace {
constexpr double max_exponent = 50; // e^50: far from the ends of a double in both directions
}

double DecayedHistogram::weight_of(uint64_t time_ns) {
    if (histogram_.total() == 0)
        reference_ns_ = time_ns;
    double exponent = (static_cast<double>(time_ns) - static_cast<double>(reference_ns_)) / tau_ns_;
    if (exponent > max_exponent) {
        histogram_.scale(std::exp(-exponent));
        reference_ns_ = time_ns;
        exponent = 0;
    }
    return std::exp(exponent);
}

void DecayedHistogram::add(uint64_t time_ns, uint64_t value_ns, double count) {
    add_bucket(time_ns, bucket_of(value_ns), count);
}

void DecayedHistogram::add_bucket(uint64_t time_ns, uint32_t bucket, double count) {
    histogram_.add_bucket(bucket, count * weight_of(time_ns));
}

double DecayedHistogram::weight(uint64_t time_ns) const {
    double age = (static_cast<double>(time_ns) - static_cast<double>(reference_ns_)) / tau_ns_;
    return histogram_.total() * std::exp(-age);
}

} // namespace auger
