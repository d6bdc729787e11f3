// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/duration_gaps.h"

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

// Steps of a quarter of an octave: durations of one kind of call are spread over some of them.
constexpr uint32_t buckets_a_step = buckets_an_octave / 4;
// Counts are compared by so many steps, so that few calls stand together and a lack by chance of
// one step is not taken for a valley.
constexpr size_t heap_steps = 4, valley_steps = 2;

// Whether `many` calls stand out above `few`, counted over the same width, beyond chance (by 2.5
// standard errors of their difference) and to the eye (twice as many).
bool stands_out(double many, double few) {
    return many >= 2 * few && many - few > 2.5 * std::sqrt(many + few);
}

} // namespace

uint64_t round_duration(uint64_t ns) {
    uint64_t unit = 1;
    while (ns / unit >= 1000)
        unit *= 10;
    return (ns + unit / 2) / unit * unit;
}

std::vector<uint64_t> duration_gaps(const WeightedHistogram& durations) {
    std::vector<double> steps(durations.end_bucket() / buckets_a_step + 1);
    for (uint32_t i = 0; i < durations.end_bucket(); i++)
        steps[i / buckets_a_step] += durations.count(i);
    auto sum = [&](size_t from, size_t count) {
        double all = 0;
        for (size_t i = from; i < std::min(from + count, steps.size()); i++)
            all += steps[i];
        return all;
    };
    std::vector<uint64_t> gaps;
    // The highest heap since the last gap, up to but not with the step looked at; and the lowest
    // valley behind it.
    double heap = 0, valley = 0;
    size_t begin = 0, valley_at = 0;
    bool falling = false;
    for (size_t i = 0; i < steps.size(); i++) {
        if (falling && i >= valley_at + valley_steps && stands_out(sum(i, heap_steps), valley)) {
            // As far as it is empty: its middle, on the scale of the buckets.
            size_t end = valley_at + valley_steps;
            while (valley == 0 && steps[end] == 0)
                end++;
            const double from = double(bucket_low(uint32_t(valley_at) * buckets_a_step)),
                         to = double(bucket_low(uint32_t(end) * buckets_a_step));
            if (const uint64_t gap = round_duration(uint64_t(std::sqrt(std::max(from, 1.0) * to))))
                gaps.push_back(gap);
            falling = false;
            heap = 0;
            begin = i = end;
        }
        const size_t before = i > begin + heap_steps ? i - heap_steps : begin;
        heap = std::max(heap, sum(before, i - before));
        const double low = sum(i, valley_steps) * (double(heap_steps) / double(valley_steps));
        if (stands_out(heap, low) && (!falling || low < valley)) {
            falling = true;
            valley = low;
            valley_at = i;
        }
    }
    return gaps;
}

std::optional<uint64_t> next_duration_gap(const WeightedHistogram& durations, uint64_t threshold_ns,
                                          bool up) {
    std::optional<uint64_t> below;
    for (const uint64_t gap : duration_gaps(durations)) {
        if (up && gap > threshold_ns)
            return gap;
        if (gap < threshold_ns)
            below = gap;
    }
    return up ? std::nullopt : below;
}

} // namespace auger
