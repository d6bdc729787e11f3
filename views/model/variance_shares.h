// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of calls make their durations differ. A call's duration d is the sum of its parts x;
// so of the variance of d each part has a share,
//
//     share(x) = cov(x, d) / var(d),
//
// and the shares add up to 1. It is the slope of the regression of x on d: by how much the part is
// longer in a call that is longer by one. Calls are told with different probabilities; each has the
// number of calls that it stands for as its weight w (Horvitz and Thompson, 1952), and sums run
// over w.
//
// The confidence interval is that of a slope where neither the spread nor the form of what remains
// is known: White's variance (Econometrica 48, 1980) in the form HC3 (MacKinnon and White, Journal
// of Econometrics 29, 1985), in which each call is judged by the line through all the others:
//
//     Var = sum (w a e / (1 - h))^2 / (sum w a^2)^2,
//
// where a = d - mean(d), e is what the slope leaves of the call's part, and h = w (1 / sum w +
// a^2 / sum w a^2) how much the slope rests on that call. Where a few long calls make most of the
// variance they have h near 1, and the interval is wide. It takes as many calls to be sure as have
// a part in the variance: with (sum w a^2)^2 / sum (w a^2)^2 of them, less one, as the degrees of
// freedom of Student's t.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace auger {

struct Interval {
    double low = 0;
    double high = 0;
};

struct PartShare {
    double mean = 0;                       // of the part
    std::optional<double> variance{};      // its share; nothing where durations do not differ
    std::optional<Interval> interval{};    // 95 %; nothing where the calls are too few to say
    double slow_mean = 0, others_mean = 0; // in calls beyond the 95th percentile, and in the others
};

class VarianceShares {
  public:
    // Of the same length; weights are above 0.
    VarianceShares(std::vector<double> weights, std::vector<double> durations);

    PartShare of(std::span<const double> part) const;

    size_t calls() const { return durations_.size(); }
    double weight() const { return weight_; } // calls that they stand for
    double mean() const { return mean_; }
    double variance() const { return weight_ > 0 ? squares_ / weight_ : 0; }
    // The duration that 95 % of the calls do not exceed, and how many do.
    double p95() const { return p95_; }
    size_t slow_calls() const { return slow_calls_; }
    // How many calls the variance rests on: as many as there would be if those that have a part in
    // it had equal ones.
    double effective_calls() const { return effective_; }

  private:
    std::vector<double> weights_;
    std::vector<double> durations_;
    std::vector<double> deviations_;
    double weight_ = 0;
    double mean_ = 0;
    double squares_ = 0; // sum of w a^2
    double effective_ = 0;
    double p95_ = 0;
    size_t slow_calls_ = 0;
    double slow_weight_ = 0;
};

} // namespace auger
