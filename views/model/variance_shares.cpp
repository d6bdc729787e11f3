// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/variance_shares.h"

#include "views/model/student.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace auger {

namespace {

constexpr double slow_share = 0.05;
constexpr double unsure = 0.05; // how often the interval may miss

} // namespace

VarianceShares::VarianceShares(std::vector<double> weights, std::vector<double> durations)
    : weights_(std::move(weights)), durations_(std::move(durations)) {
    const size_t calls = durations_.size();
    double sum = 0;
    for (size_t i = 0; i < calls; i++) {
        weight_ += weights_[i];
        sum += weights_[i] * durations_[i];
    }
    if (!calls)
        return;
    mean_ = sum / weight_;
    double fourth = 0;
    for (size_t i = 0; i < calls; i++) {
        deviations_.push_back(durations_[i] - mean_);
        const double square = weights_[i] * deviations_[i] * deviations_[i];
        squares_ += square;
        fourth += square * square;
    }
    effective_ = fourth > 0 ? squares_ * squares_ / fourth : 0;

    std::vector<size_t> order(calls);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, [&](size_t a, size_t b) { return durations_[a] > durations_[b]; });
    // The longest whose calls and all longer ones are no more than a twentieth are slow.
    double above = 0;
    for (const size_t i : order) {
        p95_ = durations_[i];
        if (above + weights_[i] > slow_share * weight_)
            break;
        above += weights_[i];
    }
    for (size_t i = 0; i < calls; i++)
        if (durations_[i] > p95_) {
            slow_calls_++;
            slow_weight_ += weights_[i];
        }
}

PartShare VarianceShares::of(std::span<const double> part) const {
    PartShare share;
    const size_t calls = durations_.size();
    if (!calls)
        return share;
    double sum = 0, slow = 0, product = 0;
    for (size_t i = 0; i < calls; i++) {
        sum += weights_[i] * part[i];
        product += weights_[i] * part[i] * deviations_[i];
        if (durations_[i] > p95_)
            slow += weights_[i] * part[i];
    }
    share.mean = sum / weight_;
    share.slow_mean = slow_weight_ > 0 ? slow / slow_weight_ : 0;
    share.others_mean = weight_ > slow_weight_ ? (sum - slow) / (weight_ - slow_weight_) : 0;
    if (!(squares_ > 0))
        return share;
    const double slope = product / squares_;
    share.variance = slope;
    if (calls < 3 || !(effective_ > 1))
        return share;
    double meat = 0;
    for (size_t i = 0; i < calls; i++) {
        const double a = deviations_[i], w = weights_[i];
        const double rest = 1 - w * (1 / weight_ + a * a / squares_);
        const double left = part[i] - share.mean - slope * a;
        // The slope rests on this call alone.
        if (rest < 1e-9)
            return share;
        const double term = w * a * left / rest;
        meat += term * term;
    }
    const double freedom =
        std::clamp(effective_ - 1, 1.0, static_cast<double>(std::max<size_t>(calls - 2, 1)));
    const double margin = student_two_sided_t(unsure, freedom) * std::sqrt(meat) / squares_;
    share.interval = {slope - margin, slope + margin};
    return share;
}

} // namespace auger
