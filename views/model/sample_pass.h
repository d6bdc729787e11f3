// SPDX-License-Identifier: GPL-3.0-or-later
// A walk over the stored samples in steps, for whoever must not hold up a screen. Classes are
// decided first, in steps too. Samples that come meanwhile are left to the next walk, those that go
// meanwhile are missing in this one.
#pragma once

#include "views/model/classifier.h"

#include <algorithm>

namespace auger {

class SamplePass {
  public:
    SamplePass(const Model& model, const Window& window, const ClassFilter& filter)
        : model_(model), window_(window), filter_(filter),
          classify_(model, Classifier::For::all_in_steps), is_shown_(model, classify_, filter_),
          now_ns_(model.now_ns()), received_(model.samples_received()),
          samples_(model.samples().size()), calls_(model.calls().size()) {}
    SamplePass(const SamplePass&) = delete;
    SamplePass& operator=(const SamplePass&) = delete;

    // Once decide() has returned false.
    const Classifier& classifier() const { return classify_; }
    // Decides classes, for whoever needs them before the first sample; returns whether some of that
    // is left.
    bool decide(size_t most) { return classify_.decide_more(most); }
    uint64_t now_ns() const { return now_ns_; } // when it began
    size_t samples() const { return samples_; }
    size_t walked() const { return next_; }
    // Calls visit(index, class, factor) for those of the next `most` samples that are shown, with
    // their weight in the window. Returns whether some are left.
    template <typename Visit>
    bool work(size_t most, Visit visit) {
        const uint64_t* times = model_.samples().times();
        const ThreadId* threads = model_.samples().threads();
        const StackId* stacks = model_.samples().stacks();
        return walk(most, [&](size_t i, CallIndex call) {
            const double factor = window_.weight(times[i], now_ns_);
            if (factor > 0 && is_shown_(call, times[i], threads[i], stacks[i]))
                visit(i, classify_(call, times[i]), factor);
        });
    }
    // The same for every sample, whatever window and class it is of: visit(index, call).
    template <typename Visit>
    bool walk(size_t most, Visit visit) {
        if (decide(most))
            return true;
        const SampleStore& samples = model_.samples();
        const CallIndex* calls = samples.calls();
        const size_t end = next_ + std::min(most, samples_ - next_);
        // The n-th sample that came lies at n % capacity.
        const uint64_t overwritten = model_.samples_received() - received_;
        const size_t first = received_ % samples.capacity();
        for (size_t i = next_; i < end; i++) {
            if (i >= first ? i - first < overwritten : i + samples.capacity() - first < overwritten)
                continue;
            const CallIndex call = calls[i];
            if (call == no_call || call.index() < calls_)
                visit(i, call);
        }
        next_ = end;
        return next_ < samples_;
    }

  private:
    const Model& model_;
    Window window_;
    ClassFilter filter_;
    Classifier classify_;
    ClassTest is_shown_;
    uint64_t now_ns_;
    uint64_t received_;
    size_t samples_;
    size_t calls_;
    size_t next_ = 0;
};

// A sample's part of the sums of its class.
inline SampleSum sample_sum(const SampleStore& samples, size_t i, double factor) {
    const double weight = factor * static_cast<double>(samples.weights()[i]);
    const SampleKind kind = samples.kinds()[i];
    return {factor, weight, kind == SampleKind::blocked ? weight : 0,
            kind == SampleKind::runnable ? weight : 0};
}

} // namespace auger
