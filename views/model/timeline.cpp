// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/timeline.h"

#include "views/model/classifier.h"

#include <algorithm>

namespace auger {

class Timeline::Counting {
  public:
    TimelineQuery query;
};

Timeline::Timeline() : shown_(std::make_unique<Counting>()) {}
Timeline::~Timeline() = default;
Timeline::Timeline(Timeline&&) noexcept = default;
Timeline& Timeline::operator=(Timeline&&) noexcept = default;

bool Timeline::refresh(const Model& model, const TimelineQuery& query, size_t) {
    shown_->query = query;
    buckets_.clear();
    uint64_t now = model.now_ns(), width = query.bucket_ns;
    uint64_t from = std::max(model.first_ns(), now > query.span_ns ? now - query.span_ns : 0);
    for (uint64_t at = from / width; at <= now / width; at++)
        buckets_.push_back({at * width, {}, 0});
    Classifier classify(model);
    ClassTest is_shown(model, classify, query.filter);
    auto bucket_of = [&](uint64_t time) -> TimelineBucket* {
        return time / width < from / width ? nullptr : &buckets_[time / width - from / width];
    };
    const SampleStore& samples = model.samples();
    for (size_t i = 0; i < samples.size(); i++) {
        uint64_t time = samples.times()[i];
        TimelineBucket* bucket = bucket_of(time);
        if (!bucket || !is_shown(samples.calls()[i], time))
            continue;
        auto weight = static_cast<double>(samples.weights()[i]);
        SampleKind kind = samples.kinds()[i];
        bucket->samples[classify(samples.calls()[i], time)] +=
            {1, weight, kind == SampleKind::blocked ? weight : 0,
             kind == SampleKind::runnable ? weight : 0};
    }
    for (const SlowCall& call : model.slow_calls())
        if (TimelineBucket* bucket = bucket_of(call.end.time_ns))
            bucket->slow_calls++;
    return false;
}

const TimelineQuery& Timeline::query() const {
    return shown_->query;
}
size_t Timeline::memory_bytes() const {
    return buckets_.capacity() * sizeof(TimelineBucket);
}

} // namespace auger
