// SPDX-License-Identifier: GPL-3.0-or-later
// What happened when: samples by class, and slow calls, per bucket of time over the last while.
#pragma once

#include "views/model/model.h"

#include <memory>
#include <vector>

namespace auger {

struct TimelineQuery {
    uint64_t bucket_ns = 1'000'000'000; // > 0; buckets begin at its multiples
    uint64_t span_ns = 120'000'000'000; // until now
    ClassFilter filter;
    friend bool operator==(const TimelineQuery&, const TimelineQuery&) = default;
};

struct TimelineBucket {
    uint64_t from_ns = 0;
    ClassSums samples;       // of `filter`'s class
    uint64_t slow_calls = 0; // traced ones of all probes, where they ended
};

class Timeline {
  public:
    // Steps of one refresh: about a millisecond.
    static constexpr size_t step = 5'000;

    Timeline();
    ~Timeline();
    Timeline(Timeline&&) noexcept;
    Timeline& operator=(Timeline&&) noexcept;

    // As FlameStream::refresh.
    bool refresh(const Model&, const TimelineQuery&, size_t budget = step);

    // Oldest first, without gaps; the last holds the model's latest moment. Empty until
    // they are known for the first time.
    const std::vector<TimelineBucket>& buckets() const { return buckets_; }
    const TimelineQuery& query() const;
    size_t memory_bytes() const;

  private:
    class Counting;
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
    std::vector<TimelineBucket> buckets_;
};

} // namespace auger
