// SPDX-License-Identifier: GPL-3.0-or-later
// The samples of an export's query one by one, with the frames that it shows.
#pragma once

#include "views/exports/export.h"
#include "views/model/frames_under.h"
#include "views/model/sample_pass.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace auger {

// One function of a stack.
struct ExportedFrame {
    LocationId location;
    size_t place;            // of the location in the stack
    const FrameEntry* entry; // of the location, as shown
};

struct ExportedSample {
    StoredSample sample;
    CallClass call_class = CallClass::outside;
    double weight_ns = 0;                  // faded under an ewma window
    double samples = 1;                    // likewise
    std::span<const ExportedFrame> frames; // leaf first; valid during the visit
};

class ExportedSamples {
  public:
    ExportedSamples(const Model& model, const ExportQuery& query)
        : model_(model), query_(query), under_(model.symbols(), query.under) {}

    // Calls visit(ExportedSample) for each, the earliest first.
    template <typename Visit>
    void for_each(Visit visit) {
        for (const Shown& shown : find_shown()) {
            const SampleStore& store = model_.samples();
            const size_t i = shown.index;
            ExportedSample sample;
            sample.sample = {store.times()[i],   store.weights()[i], store.stacks()[i],
                             store.threads()[i], store.calls()[i],   store.kinds()[i],
                             store.cpus()[i]};
            sample.call_class = shown.call_class;
            sample.samples = shown.factor;
            sample.weight_ns = shown.factor * static_cast<double>(sample.sample.weight_ns);
            if (!expand(sample.sample))
                continue;
            sample.frames = frames_;
            if (query_.every_ns == 0)
                visit(static_cast<const ExportedSample&>(sample));
            else
                visit_ticks(sample, visit);
        }
    }

  private:
    struct Shown {
        uint32_t index;
        CallClass call_class;
        double factor;
    };
    std::vector<Shown> find_shown() const;
    // A thread's samples, laid end to end, are its time as far as it was sampled. A clock that
    // ticks once in each query_.every_ns of that, at a moment of its own in each so that it cannot
    // fall in step with the program, finds as often as it ticks in one. (Not of the time as it went
    // by: samples stand for a period each, wherever in it they were taken.)
    template <typename Visit>
    void visit_ticks(ExportedSample sample, Visit visit) {
        const uint64_t every = query_.every_ns, since = query_.window.since(0, model_.now_ns());
        const uint64_t last = sample.sample.time_ns;
        uint64_t& time = sampled_ns_[sample.sample.thread];
        // Of a wait from before the window, what is in it.
        const uint64_t begin = time,
                       weight = std::min(sample.sample.weight_ns, last - std::min(last, since));
        time += weight;
        uint64_t ticks = 0;
        for (uint64_t period = begin / every; period * every < time; period++) {
            const uint64_t tick = period * every + moment(period) % every;
            ticks += tick >= begin && tick < time;
        }
        sample.samples = 1;
        sample.weight_ns = static_cast<double>(every);
        for (uint64_t left = ticks; left-- > 0;) {
            sample.sample.time_ns = last - std::min(last, left * every);
            visit(static_cast<const ExportedSample&>(sample));
        }
    }
    // As good as random, and the same every time (the finalizer of MurmurHash3, by Austin Appleby).
    static uint64_t moment(uint64_t period) {
        period = (period ^ (period >> 33)) * 0xff51afd7ed558ccd;
        period = (period ^ (period >> 33)) * 0xc4ceb9fe1a85ec53;
        return period ^ (period >> 33);
    }
    // Sets frames_. False: the query shows nothing of it.
    bool expand(const StoredSample& sample);

    const Model& model_;
    const ExportQuery& query_;
    FramesUnder under_;
    std::vector<FunctionId> path_;
    std::vector<ExportedFrame> frames_;
    std::map<ThreadId, uint64_t> sampled_ns_; // of visit_ticks(), so far
};

} // namespace auger
