// SPDX-License-Identifier: GPL-3.0-or-later
// The samples of an export's query one by one, with the frames that it shows.
#pragma once

#include "views/exports/export.h"
#include "views/model/frames_under.h"
#include "views/model/sample_pass.h"

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
            visit(static_cast<const ExportedSample&>(sample));
        }
    }

  private:
    struct Shown {
        uint32_t index;
        CallClass call_class;
        double factor;
    };
    std::vector<Shown> find_shown() const;
    // Sets frames_. False: the query shows nothing of it.
    bool expand(const StoredSample& sample);

    const Model& model_;
    const ExportQuery& query_;
    FramesUnder under_;
    std::vector<FunctionId> path_;
    std::vector<ExportedFrame> frames_;
};

} // namespace auger
