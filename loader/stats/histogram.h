// SPDX-License-Identifier: GPL-3.0-or-later
// A log-linear histogram of durations in the buckets of wire_histogram_bucket, so that the kernel's
// counts can be added as they are. Percentiles interpolate inside a bucket, but never so far that a
// value anywhere in the bucket would be more than 1 % away. Beyond the last bucket (2^40 ns, 18
// minutes) only "longer than that" is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

// The kernel's layout: so many buckets for each power of two, and one for what is beyond the last.
inline constexpr uint32_t buckets_an_octave = 64;
inline constexpr uint32_t histogram_buckets = 35 * buckets_an_octave + 1;
uint32_t bucket_of(uint64_t value_ns);
// A bucket holds the values in [low, high). The last one is open: high is UINT64_MAX.
uint64_t bucket_low(uint32_t bucket);
uint64_t bucket_high(uint32_t bucket);

// Count is uint64_t for calls as they were, double for calls that fade with age.
template <typename Count>
class BasicHistogram {
  public:
    static constexpr size_t bucket_count = histogram_buckets;

    void add(uint64_t value_ns, Count count = 1) { add_bucket(bucket_of(value_ns), count); }
    // An index beyond the last bucket counts there: it can come from a damaged recording.
    void add_bucket(uint32_t bucket, Count count);
    void merge(const BasicHistogram& other);
    // Never below zero in any bucket: what is subtracted must have been added before.
    void subtract(const BasicHistogram& other);
    void scale(Count factor);

    Count total() const { return total_; }
    Count count(uint32_t bucket) const {
        return bucket < counts_.size() ? counts_[bucket] : Count{};
    }
    // One past the highest bucket that ever held something.
    uint32_t end_bucket() const { return static_cast<uint32_t>(counts_.size()); }

    // The value, in ns, below or at which a share q in (0, 1] of the values lies; 0 when empty.
    double quantile(double q) const;
    // How many values are above (not at) `value_ns`; inside its bucket, proportionally.
    double count_above(uint64_t value_ns) const;

  private:
    std::vector<Count> counts_; // as long as needed: most histograms end far below the last bucket
    Count total_ = 0;
};

extern template class BasicHistogram<uint64_t>;
extern template class BasicHistogram<double>;

using Histogram = BasicHistogram<uint64_t>;
using WeightedHistogram = BasicHistogram<double>;

} // namespace auger
