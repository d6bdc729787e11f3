// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/per_call_sums.h"

#include "loader/stats/histogram.h"
#include "views/model/student.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace auger {

namespace {

constexpr double confidence_p = 0.05;
constexpr double false_discovery_rate = 0.05;
// Of one side: what is less rare than this is no reason to wait for more calls.
constexpr double promising = 0.05;
// Where more calls than this many times those there are would be needed, nothing speaks for a
// difference.
constexpr double most_times_more = 100;
// Sums are as good as equal in the same of 32 buckets an octave, so few are kept for each thing.
constexpr uint32_t buckets_merged = buckets_an_octave / 32;

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
        count(thing, weight, side);
        in_call_[thing] = 0;
    }
    touched_.clear();
}

void PerCallSums::count(uint32_t thing, double weight, size_t side) {
    const uint32_t bucket =
        bucket_of(static_cast<uint64_t>(std::max(weight, 1.0))) / buckets_merged * buckets_merged;
    const auto value = static_cast<double>(std::max<uint64_t>(bucket_low(bucket), 1));
    std::vector<CallsOfValue>& values = values_[thing];
    size_t i = 0;
    while (i < values.size() && values[i].value != value)
        i++;
    if (i == values.size())
        values.push_back({value, 0, 0});
    (side ? values[i].second : values[i].first)++;
    if (i > 0) // what is frequent comes to the front
        std::swap(values[i], values[i - 1]);
}

DiffEntry compare(const std::array<Moments, 2>& moments, std::span<const CallsOfValue> values,
                  double n1, double n2) {
    const auto& [a, b] = moments;
    DiffEntry entry;
    entry.first_ns = n1 > 0 ? a.sum / n1 : 0;
    entry.second_ns = n2 > 0 ? b.sum / n2 : 0;
    entry.difference_ns = entry.first_ns - entry.second_ns;
    entry.margin_ns = std::numeric_limits<double>::infinity();
    entry.sampled_calls = a.calls + b.calls;
    if (n1 < 2 || n2 < 2)
        return entry;

    const auto calls_first = static_cast<uint64_t>(std::llround(n1)),
               calls_second = static_cast<uint64_t>(std::llround(n2));
    entry.p_value = permutation_p(values, calls_first, calls_second);
    entry.testable = least_permutation_p(values, calls_first, calls_second) < false_discovery_rate;

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
    return entry;
}

size_t mark_significant(std::vector<DiffEntry*> entries, double calls_first, double calls_second) {
    // What could be significant in no way takes no part: how few calls have anything of a thing
    // says nothing of which calls they are.
    const auto testable = std::stable_partition(entries.begin(), entries.end(),
                                                [](const DiffEntry* e) { return e->testable; });
    const auto tested = static_cast<size_t>(testable - entries.begin());
    std::sort(entries.begin(), testable,
              [](const DiffEntry* a, const DiffEntry* b) { return a->p_value < b->p_value; });
    auto limit = [&](size_t rank) { // of p-values from the least on
        return false_discovery_rate * static_cast<double>(rank) /
               static_cast<double>(std::max<size_t>(tested, 1));
    };
    size_t accepted = 0;
    for (size_t i = 0; i < tested; i++)
        if (entries[i]->p_value <= limit(i + 1))
            accepted = i + 1;
    for (size_t i = 0; i < accepted; i++)
        entries[i]->significant = true;
    // A p-value falls about exponentially with the number of calls while they go on as they are.
    const double wanted = std::log(limit(accepted + 1) / 2);
    const double calls = std::min(calls_first, calls_second);
    for (size_t i = accepted; i < entries.size(); i++) {
        const double present = std::log(std::min(entries[i]->p_value, 1.0) / 2);
        const double times = present < std::log(promising) ? wanted / present : 0;
        if (times > 0 && times < most_times_more)
            entries[i]->calls_needed =
                static_cast<uint64_t>(std::max(1.0, std::ceil(calls * (times - 1))));
    }
    return tested;
}

} // namespace auger
