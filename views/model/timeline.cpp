// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/timeline.h"

#include "views/model/classed_samples.h"
#include "views/model/refolded.h"

#include <map>

namespace auger {

class Timeline::Counting final : public ClassedSamples {
  public:
    // One bucket more than is shown, so that the first shown one is whole.
    Counting(const Model& model, const TimelineQuery& query)
        : ClassedSamples(model, {Window::Kind::last, query.span_ns + query.bucket_ns},
                         query.filter),
          query_(query) {}

    bool refresh(size_t& budget) { return advance(budget); }
    const TimelineQuery& query() const { return query_; }
    ClassSums sums(uint64_t bucket) const {
        auto known = place_of_.find(bucket);
        return known == place_of_.end() ? ClassSums{} : places_[known->second].sums;
    }
    size_t memory_bytes() const {
        return ClassedSamples::memory_bytes() + places_.capacity() * sizeof(Place);
    }

  private:
    struct Place {
        uint64_t bucket = 0;
        ClassSums sums;
        uint32_t held = 0;
    };

    uint32_t place(uint64_t number) override {
        uint64_t bucket = model().samples().times()[index_of(number)] / query_.bucket_ns;
        uint32_t fresh = free_.empty() ? static_cast<uint32_t>(places_.size()) : free_.back();
        auto [known, is_new] = place_of_.try_emplace(bucket, fresh);
        if (is_new) {
            if (free_.empty())
                places_.emplace_back();
            else
                free_.pop_back();
            places_[fresh] = {bucket, {}, 0};
        }
        return known->second;
    }
    size_t put(uint32_t at, CallClass of, const SampleSum& sum, int32_t held) override {
        Place& place = places_[at];
        place.sums[of] += sum;
        place.held += static_cast<uint32_t>(held);
        if (place.held == 0) {
            place_of_.erase(place.bucket);
            free_.push_back(at);
        }
        return 4; // steps of a path, about
    }
    // Nothing fades in a window of this kind.
    void fade(const SampleSum&) override {}

    TimelineQuery query_;
    std::map<uint64_t, uint32_t> place_of_; // by bucket
    std::vector<Place> places_;
    std::vector<uint32_t> free_;
};

class Timeline::Implementation : public Refolded<Counting> {};

Timeline::Timeline() : implementation_(std::make_unique<Implementation>()) {}
Timeline::~Timeline() = default;
Timeline::Timeline(Timeline&&) noexcept = default;
Timeline& Timeline::operator=(Timeline&&) noexcept = default;

bool Timeline::refresh(const Model& model, const TimelineQuery& query, size_t budget) {
    bool left = implementation_->refresh(model, query, budget);
    if (!implementation_->shown())
        return left;
    const Counting& shown = *implementation_->shown();
    const uint64_t now = model.now_ns(), width = shown.query().bucket_ns,
                   span = shown.query().span_ns;
    const uint64_t first = std::max(model.first_ns(), now > span ? now - span : 0) / width;
    buckets_.clear();
    for (uint64_t bucket = first; bucket <= now / width; bucket++)
        buckets_.push_back({bucket * width, shown.sums(bucket), 0});
    for (const SlowCall& call : model.slow_calls())
        if (uint64_t bucket = call.end.time_ns / width; bucket >= first && bucket <= now / width)
            buckets_[bucket - first].slow_calls++;
    return left;
}

const TimelineQuery& Timeline::query() const {
    static const TimelineQuery none;
    return implementation_->shown() ? implementation_->shown()->query() : none;
}

size_t Timeline::memory_bytes() const {
    return implementation_->memory_bytes() + buckets_.capacity() * sizeof(TimelineBucket);
}

} // namespace auger
