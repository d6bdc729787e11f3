// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/per_call_sums.h"

#include "views/model/student.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace auger {

namespace {

constexpr double confidence_p = 0.05;
constexpr double false_discovery_rate = 0.05;
// With fewer sampled calls the sums are too far from a normal distribution for any t-test.
constexpr uint64_t min_sampled_calls = 5;

double variance(double sum, double sum_of_squares, double n) {
    return n > 1 ? std::max(0.0, (sum_of_squares - sum * sum / n) / (n - 1)) : 0;
}

} // namespace

void PerCallSums::end_call(size_t side) {
    for (uint32_t thing : touched_) {
        Moments& moments = moments_[thing][side];
        double weight = in_call_[thing];
        if (weight == 0)
            continue; // a thing touched twice, before it had weight
        moments.sum += weight;
        moments.sum_of_squares += weight * weight;
        moments.calls++;
        in_call_[thing] = 0;
    }
    touched_.clear();
}

DiffEntry compare(const std::array<Moments, 2>& moments, double n1, double n2) {
    const auto& [a, b] = moments;
    DiffEntry entry;
    entry.first_ns = n1 > 0 ? a.sum / n1 : 0;
    entry.second_ns = n2 > 0 ? b.sum / n2 : 0;
    entry.difference_ns = entry.first_ns - entry.second_ns;
    entry.margin_ns = std::numeric_limits<double>::infinity();
    entry.sampled_calls = a.calls + b.calls;
    if (n1 < 2 || n2 < 2)
        return entry;

    double part1 = variance(a.sum, a.sum_of_squares, n1) / n1;
    double part2 = variance(b.sum, b.sum_of_squares, n2) / n2;
    // Where a function was not hit at all on one side, that side's variance is 0 by lack of
    // samples, not by nature; the pooled variance is what holds if the sides are alike. Take the
    // larger.
    double pooled = variance(a.sum + b.sum, a.sum_of_squares + b.sum_of_squares, n1 + n2);
    double welch = part1 + part2;
    double error = std::sqrt(std::max(welch, pooled * (1 / n1 + 1 / n2)));
    if (!(error > 0))
        return entry;
    double df = welch > 0 ? welch * welch / (part1 * part1 / (n1 - 1) + part2 * part2 / (n2 - 1))
                          : n1 + n2 - 2;
    df = std::max(1.0, df);
    entry.margin_ns = error * student_two_sided_t(confidence_p, df);
    if (entry.sampled_calls >= min_sampled_calls)
        entry.p_value = student_two_sided_p(std::abs(entry.difference_ns) / error, df);
    return entry;
}

void mark_significant(std::vector<DiffEntry*> entries) {
    std::sort(entries.begin(), entries.end(),
              [](const DiffEntry* a, const DiffEntry* b) { return a->p_value < b->p_value; });
    size_t accepted = 0;
    for (size_t i = 0; i < entries.size(); i++)
        if (entries[i]->p_value <=
            false_discovery_rate * static_cast<double>(i + 1) / static_cast<double>(entries.size()))
            accepted = i + 1;
    for (size_t i = 0; i < accepted; i++)
        entries[i]->significant = true;
}

} // namespace auger
