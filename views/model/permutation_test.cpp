// SPDX-License-Identifier: GPL-3.0-or-later
// The saddlepoint approximation is that of Skovgaard (1987) for one sum of independent choices
// given another (their number), as Booth and Butler (1990) use it for randomization tests.
#include "views/model/permutation_test.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace auger {

namespace {

// Ways to be looked at one by one: some ten microseconds.
constexpr int exact_steps = 2'000;
// Sums that differ by less are the same, as they come of different orders of adding up.
constexpr double rounding = 1e-9;

// By a table, and beyond it by Stirling's series, whose first omitted term is 1 / (360 n^3).
double log_factorial(double n) {
    static const std::vector<double> table = [] {
        std::vector<double> logs(4096);
        for (size_t i = 1; i < logs.size(); i++)
            logs[i] = logs[i - 1] + std::log(static_cast<double>(i));
        return logs;
    }();
    if (n < static_cast<double>(table.size()))
        return table[static_cast<size_t>(n)];
    return (n + 0.5) * std::log(n) - n + 0.5 * std::log(2 * std::acos(-1.0)) + 1 / (12 * n);
}

double log_choose(double n, double k) {
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// How likely `chosen` of `all` calls, picked blindly, have a sum of at least `sum`.
class UpperTail {
  public:
    struct Group {
        double value;
        double calls;
    };
    // Values from the largest down, > 0.
    UpperTail(std::vector<Group> groups, double all, double chosen, double sum)
        : groups_(std::move(groups)), all_(all), chosen_(chosen), sum_(sum),
          slack_(rounding * std::max(sum, 1e-300)) {
        for (const Group& group : groups_)
            zeros_ -= group.calls;
        zeros_ += all_;
    }

    double operator()() {
        log_ways_ = log_choose(all_, chosen_);
        steps_ = exact_steps;
        exact_ = 0;
        if (add_ways(0, chosen_, all_, 0, 0))
            return std::min(1.0, exact_);
        return approximate();
    }

  private:
    // The most that `left` calls of the groups from `at` on come to.
    double most(size_t at, double left) const {
        double sum = 0;
        for (; at < groups_.size() && left > 0; at++) {
            const double taken = std::min(left, groups_[at].calls);
            sum += taken * groups_[at].value;
            left -= taken;
        }
        return sum;
    }
    // Adds the probabilities of all choices from the groups from `at` on; false when they are too
    // many.
    bool add_ways(size_t at, double left, double rest, double sum, double log_ways) {
        if (--steps_ < 0)
            return false;
        if (sum >= sum_ - slack_) { // whatever else is chosen
            exact_ += std::exp(log_ways + log_choose(rest, left) - log_ways_);
            return true;
        }
        if (sum + most(at, left) < sum_ - slack_)
            return true;
        const Group& group = groups_[at];
        const double others = rest - group.calls;
        const double fewest = std::max(0.0, left - others), many = std::min(left, group.calls);
        for (double taken = many; taken >= fewest; taken--)
            if (!add_ways(at + 1, left - taken, others, sum + taken * group.value,
                          log_ways + log_choose(group.calls, taken)))
                return false;
        return true;
    }

    // Cumulants of (number chosen, their sum) under exp(t, u), each call chosen for itself.
    struct Cumulants {
        double k = 0, k_t = 0, k_u = 0, k_tt = 0, k_tu = 0, k_uu = 0;
        void add(double calls, double value, double log_odds, double log_not) {
            // log(1 - p + p e^x), without overflow.
            const double chance = 1 / (1 + std::exp(-log_odds));
            k += calls * (log_not + (log_odds > 0 ? log_odds + std::log1p(std::exp(-log_odds))
                                                  : std::log1p(std::exp(log_odds))));
            const double mean = calls * chance, variance = mean * (1 - chance);
            k_t += mean;
            k_u += mean * value;
            k_tt += variance;
            k_tu += variance * value;
            k_uu += variance * value * value;
        }
        double determinant() const { return k_tt * k_uu - k_tu * k_tu; }
    };
    Cumulants cumulants(double t, double u, double scale) const {
        const double share = chosen_ / all_, log_not = std::log1p(-share),
                     log_odds = std::log(share) - log_not;
        Cumulants sums;
        sums.add(zeros_, 0, log_odds + t, log_not);
        for (const Group& group : groups_)
            sums.add(group.calls, group.value / scale, log_odds + t + u * group.value / scale,
                     log_not);
        return sums;
    }

    double approximate() const {
        const double scale = groups_.front().value;
        // Sums come in steps; half of one is the usual correction.
        double step = groups_.back().value;
        for (size_t i = 1; i < groups_.size(); i++)
            step = std::min(step, groups_[i - 1].value - groups_[i].value);
        const double sum = (sum_ - step / 2) / scale;
        // The saddlepoint is where t * chosen + u * sum - K(t, u) is greatest.
        double t = 0, u = 0;
        Cumulants at = cumulants(t, u, scale);
        for (int i = 0; i < 100; i++) {
            const double off_t = chosen_ - at.k_t, off_u = sum - at.k_u, det = at.determinant();
            if (!(det > 0))
                break;
            const double to_t = (at.k_uu * off_t - at.k_tu * off_u) / det;
            const double to_u = (at.k_tt * off_u - at.k_tu * off_t) / det;
            const double gain = to_t * off_t + to_u * off_u;
            if (gain < 1e-12)
                break;
            const double before = t * chosen_ + u * sum - at.k;
            double part = 1;
            for (; part > 1e-6; part /= 2) {
                const Cumulants next = cumulants(t + part * to_t, u + part * to_u, scale);
                const double after = (t + part * to_t) * chosen_ + (u + part * to_u) * sum - next.k;
                if (after >= before + part * gain / 1e4) {
                    at = next;
                    break;
                }
            }
            if (part <= 1e-6)
                break;
            t += part * to_t;
            u += part * to_u;
        }
        const double share = chosen_ / all_, spread = all_ * share * (1 - share);
        const double exponent = std::max(0.0, t * chosen_ + u * sum - at.k);
        const double w = std::copysign(std::sqrt(2 * exponent), u);
        const double v = u * std::sqrt(std::max(0.0, at.determinant()) / spread);
        const double beyond = std::erfc(w / std::sqrt(2.0)) / 2;
        if (std::abs(w) < 1e-3 ||
            v == 0) // the middle, where the formula divides nothing by nothing
            return beyond;
        const double density = std::exp(-w * w / 2) / std::sqrt(2 * std::acos(-1.0));
        return std::clamp(beyond + density * (1 / v - 1 / w), 0.0, 1.0);
    }

    std::vector<Group> groups_;
    double all_, chosen_, sum_, slack_, zeros_ = 0;
    double log_ways_ = 0, exact_ = 0;
    int steps_ = 0;
};

} // namespace

double permutation_p(std::span<const CallsOfValue> values, uint64_t calls_first,
                     uint64_t calls_second) {
    std::vector<UpperTail::Group> groups;
    double sum_first = 0, sum_second = 0, valued_first = 0, valued_second = 0;
    for (const CallsOfValue& value : values) {
        groups.push_back({value.value, double(value.first) + value.second});
        sum_first += value.first * value.value;
        sum_second += value.second * value.value;
        valued_first += value.first;
        valued_second += value.second;
    }
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.value > b.value; });
    const double first = std::max(double(calls_first), valued_first),
                 second = std::max(double(calls_second), valued_second);
    if (groups.empty() || first == 0 || second == 0)
        return 1;
    const bool more_in_first = sum_first * second >= sum_second * first;
    const double p = UpperTail(std::move(groups), first + second, more_in_first ? first : second,
                               more_in_first ? sum_first : sum_second)();
    return std::min(1.0, 2 * p);
}

double least_permutation_p(std::span<const CallsOfValue> values, uint64_t calls_first,
                           uint64_t calls_second) {
    std::vector<std::pair<double, double>> groups; // value, calls
    double zeros = double(calls_first) + double(calls_second);
    const double all = zeros;
    for (const CallsOfValue& value : values) {
        groups.emplace_back(value.value, double(value.first) + value.second);
        zeros -= groups.back().second;
    }
    std::sort(groups.begin(), groups.end(), std::greater<>());
    groups.emplace_back(0, std::max(0.0, zeros));
    double least = 1;
    for (double side : {double(calls_first), double(calls_second)}) {
        // The largest ones all on this side: of those that are even with its least, any.
        double left = side;
        size_t at = 0;
        while (at + 1 < groups.size() && left > groups[at].second)
            left -= groups[at++].second;
        if (left <= groups[at].second)
            least = std::min(least,
                             std::exp(log_choose(groups[at].second, left) - log_choose(all, side)));
    }
    return std::min(1.0, 2 * least);
}

} // namespace auger
