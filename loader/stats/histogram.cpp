// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of log-linear buckets; the layout itself is wire_histogram_bucket's.
#include "loader/stats/histogram.h"

#include "bpf/wire.h"

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

static_assert(buckets_an_octave == 1u << WIRE_HIST_SUB_BITS);
static_assert(histogram_buckets == WIRE_HIST_BUCKETS);

constexpr uint32_t last_bucket = histogram_buckets - 1;

// Between the bounds of a bucket an estimate may not go further from either end than this.
constexpr double max_relative_error = 0.01;

// Where in [low, high) the value at `fraction` of the bucket's counts lies.
double interpolate(uint32_t bucket, double fraction) {
    double low = static_cast<double>(bucket_low(bucket));
    if (bucket == last_bucket)
        return low;
    double high = static_cast<double>(bucket_high(bucket));
    if (high - low <= 1)
        return low; // a bucket of one value
    double value = low + (high - low) * fraction;
    // Values in one bucket may lie at one of its ends: stay within 1 % of both. A bucket is at most
    // 1/64 wide, so the two limits never cross.
    double floor = (high - 1) * (1 - max_relative_error);
    double ceiling = low * (1 + max_relative_error);
    return std::clamp(value, std::min(floor, ceiling), ceiling);
}

} // namespace

uint32_t bucket_of(uint64_t value_ns) {
    return wire_histogram_bucket(value_ns);
}

uint64_t bucket_low(uint32_t bucket) {
    constexpr uint32_t sub = buckets_an_octave;
    if (bucket >= last_bucket)
        return uint64_t{1} << WIRE_HIST_MAX_BITS;
    if (bucket < sub)
        return bucket;
    uint32_t octave = (bucket >> WIRE_HIST_SUB_BITS) - 1;
    return (uint64_t{sub} + (bucket & (sub - 1))) << octave;
}

uint64_t bucket_high(uint32_t bucket) {
    return bucket >= last_bucket ? UINT64_MAX : bucket_low(bucket + 1);
}

template <typename Count>
void BasicHistogram<Count>::add_bucket(uint32_t bucket, Count count) {
    bucket = std::min(bucket, last_bucket);
    if (bucket >= counts_.size())
        counts_.resize(bucket + 1);
    counts_[bucket] += count;
    total_ += count;
}

template <typename Count>
void BasicHistogram<Count>::merge(const BasicHistogram& other) {
    if (other.counts_.size() > counts_.size())
        counts_.resize(other.counts_.size());
    for (size_t i = 0; i < other.counts_.size(); i++)
        counts_[i] += other.counts_[i];
    total_ += other.total_;
}

template <typename Count>
void BasicHistogram<Count>::subtract(const BasicHistogram& other) {
    size_t common = std::min(counts_.size(), other.counts_.size());
    Count total = 0;
    for (size_t i = 0; i < common; i++)
        counts_[i] -= std::min(counts_[i], other.counts_[i]);
    for (Count count : counts_)
        total += count;
    total_ = total;
}

template <typename Count>
void BasicHistogram<Count>::scale(Count factor) {
    for (Count& count : counts_)
        count *= factor;
    total_ *= factor;
}

template <typename Count>
double BasicHistogram<Count>::quantile(double q) const {
    double total = static_cast<double>(total_);
    if (!(total > 0))
        return 0;
    // Nearest rank: the smallest value that at least a share q of all lies at or below. The slack
    // keeps 0.95 * 20 from becoming rank 20 by rounding.
    double rank = std::max(0.0, std::clamp(q, 0.0, 1.0) * total - 1e-9 * total);
    if constexpr (std::is_integral_v<Count>)
        rank = std::max(1.0, std::ceil(rank));
    double seen = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < counts_.size(); i++) {
        double count = static_cast<double>(counts_[i]);
        if (count <= 0)
            continue;
        if (seen + count >= rank)
            return interpolate(i, (rank - seen) / count);
        seen += count;
        last = i;
    }
    return interpolate(last, 1); // rounding left the last rank behind the end
}

template <typename Count>
double BasicHistogram<Count>::count_above(uint64_t value_ns) const {
    uint32_t bucket = bucket_of(value_ns);
    double above = 0;
    for (size_t i = bucket + 1; i < counts_.size(); i++)
        above += static_cast<double>(counts_[i]);
    // Inside the bucket the values are taken as spread evenly; the open one has no inside.
    if (bucket < counts_.size() && bucket != last_bucket) {
        double low = static_cast<double>(bucket_low(bucket));
        double width = static_cast<double>(bucket_high(bucket)) - low;
        double share = (static_cast<double>(value_ns) + 1 - low) / width;
        above += static_cast<double>(counts_[bucket]) * (1 - share);
    }
    return above;
}

template class BasicHistogram<uint64_t>;
template class BasicHistogram<double>;

} // namespace auger
