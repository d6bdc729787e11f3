// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/timeline.h"

#include "views/model/classed_samples.h"
#include "views/model/refolded.h"

#include <algorithm>
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
        auto known = columns_.find(bucket);
        return known == columns_.end() ? ClassSums{} : known->second.sums;
    }
    size_t memory_bytes() const {
        return ClassedSamples::memory_bytes() + places_.capacity() * sizeof(Place) +
               free_.capacity() * sizeof(uint32_t) + columns_.size() * (sizeof(Column) + map_node) +
               place_of_.size() * map_node;
    }

  private:
    static constexpr size_t map_node = 6 * sizeof(void*); // and key and value, about
    struct Column {
        ClassSums sums;
        uint32_t held = 0;
    };
    // Where a sample's weight goes: into the bucket of its time, or, of a wait, into all that it
    // spanned. What began before the oldest bucket that can be shown is left out.
    struct Place {
        uint64_t first = 0, last = 0;    // buckets
        uint64_t from_ns = 0, to_ns = 0; // of a wait of several
        uint32_t held = 0;
    };

    uint32_t place(uint64_t number) override {
        const SampleStore& samples = model().samples();
        const size_t i = index_of(number);
        const uint64_t to = samples.times()[i], weight = samples.weights()[i];
        Place made{to / query_.bucket_ns, to / query_.bucket_ns, 0, to, 0};
        if (samples.kinds()[i] != SampleKind::cpu) {
            made.from_ns = to - std::min(to, weight);
            const uint64_t shown = query_.span_ns / query_.bucket_ns + 1;
            made.first =
                std::max(made.from_ns / query_.bucket_ns, made.last - std::min(made.last, shown));
        }
        if (made.first == made.last)
            if (auto known = place_of_.find(made.last); known != place_of_.end())
                return known->second;
        uint32_t at = static_cast<uint32_t>(places_.size());
        if (free_.empty()) {
            places_.emplace_back();
        } else {
            at = free_.back();
            free_.pop_back();
        }
        places_[at] = made;
        if (made.first == made.last)
            place_of_.emplace(made.last, at);
        return at;
    }
    size_t put(uint32_t at, CallClass of, const SampleSum& sum, int32_t held) override {
        Place& place = places_[at];
        if (place.first == place.last)
            add(place.last, of, sum, held);
        else
            spread(place, of, sum, held);
        place.held += static_cast<uint32_t>(held);
        if (place.held == 0) {
            if (place.first == place.last)
                place_of_.erase(place.last);
            free_.push_back(at);
        }
        return 4 + (place.last - place.first); // steps of a path, about
    }
    // A wait's parts are whole nanoseconds, so that what is put can be taken out again. It counts
    // as a sample where it ended, as in every window.
    void spread(const Place& place, CallClass of, const SampleSum& sum, int32_t held) {
        const auto whole = static_cast<double>(place.to_ns - place.from_ns);
        for (uint64_t bucket = place.first; bucket <= place.last; bucket++) {
            const uint64_t begin = std::max(place.from_ns, bucket * query_.bucket_ns),
                           end = std::min(place.to_ns, (bucket + 1) * query_.bucket_ns);
            const auto part = static_cast<double>(end - begin);
            add(bucket, of,
                {bucket == place.last ? sum.samples : 0, sum.weight_ns / whole * part,
                 sum.blocked_ns / whole * part, sum.runnable_ns / whole * part},
                held);
        }
    }
    void add(uint64_t bucket, CallClass of, const SampleSum& sum, int32_t held) {
        auto column = columns_.try_emplace(bucket).first;
        column->second.sums[of] += sum;
        column->second.held += static_cast<uint32_t>(held);
        if (column->second.held == 0)
            columns_.erase(column);
    }
    // Nothing fades in a window of this kind.
    void fade(const SampleSum&) override {}

    TimelineQuery query_;
    std::map<uint64_t, Column> columns_;    // by bucket
    std::map<uint64_t, uint32_t> place_of_; // by bucket, of samples in one
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
