// SPDX-License-Identifier: GPL-3.0-or-later
// Decides the class of every stored sample for the split in force, once a query: first for all
// calls, then each sample costs one look-up.
#pragma once

#include "views/model/model.h"

namespace auger {

class Classifier {
  public:
    explicit Classifier(const Model& model);

    // The class of a sample taken at `time_ns` in `call` (its innermost one, or no_call).
    CallClass operator()(CallIndex call, uint64_t time_ns) const {
        if (call == no_call || outermost_.empty())
            return CallClass::outside;
        CallIndex outer = outermost_[call.index()];
        if (outer == no_call)
            return CallClass::outside;
        return so_far_ ? class_so_far(outer, time_ns) : classes_[outer.index()];
    }
    // The outermost call of the split's probe that encloses `call`; no_call when there is none.
    CallIndex outermost(CallIndex call) const {
        return call == no_call || outermost_.empty() ? no_call : outermost_[call.index()];
    }
    // The class of that call itself.
    CallClass class_of_call(CallIndex outer) const { return classes_[outer.index()]; }
    // True when a call of the probe was seen inside another one of it.
    bool recursive() const { return recursive_; }

  private:
    CallClass class_so_far(CallIndex outer, uint64_t time_ns) const;

    const Model& model_;
    bool so_far_ = false;
    bool recursive_ = false;
    ThresholdState state_;
    std::vector<CallIndex> outermost_; // by call; empty when there is no split
    std::vector<CallClass> classes_;   // by call, meaningful for outermost ones
};

} // namespace auger
