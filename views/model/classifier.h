// SPDX-License-Identifier: GPL-3.0-or-later
// Decides the class of every stored sample for the split in force, once a query: first for all
// calls, then each sample costs one look-up.
#pragma once

#include "loader/base/result.h"
#include "views/model/model.h"

namespace auger {

class Classifier {
  public:
    explicit Classifier(const Model& model);

    // The class by duration of a sample taken at `time_ns` in `call` (its innermost one, or
    // no_call).
    CallClass operator()(CallIndex call, uint64_t time_ns) const {
        CallIndex outer = outermost(call);
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
    // Whether that call took the split's branch; nothing when it is not known.
    std::optional<bool> taken(CallIndex outer) const;
    // The value that the split is by; no_label when it is not known.
    LabelId label(CallIndex outer) const;
    // Whether `only` keeps what happened in `call`: its lines were (or were not) executed in the
    // split's outermost call, or without a split in any timed call around.
    bool kept(CallIndex call) const {
        return !by_lines_ || (call != no_call && kept_[call.index()]);
    }
    // True when a call of the probe was seen inside another one of it.
    bool recursive() const { return recursive_; }

  private:
    CallClass class_so_far(CallIndex outer, uint64_t time_ns) const;
    void find_outermost();
    void decide_lines();

    const Model& model_;
    bool so_far_ = false;
    bool recursive_ = false;
    bool by_lines_ = false;
    ThresholdState state_;
    std::vector<CallIndex> outermost_; // by call; empty when there is no split
    std::vector<CallClass> classes_;   // by call, meaningful for outermost ones
    std::vector<uint8_t> kept_;        // by call; empty when `only` names no line
};

// What the split in force lacks for this class to exist: a threshold, a branch, an expression;
// nothing where it has everything.
std::optional<Error> lacking_part(const Model& model, const ClassFilter& filter);

// Whether samples and calls are of a class, and kept by `only`.
class ClassTest {
  public:
    ClassTest(const Model& model, const Classifier& classify, const ClassFilter& filter);

    bool operator()(CallIndex call, uint64_t time_ns) const {
        return classify_.kept(call) &&
               (!filter_.duration || *filter_.duration == classify_(call, time_ns)) &&
               (whole_duration_only_ || fits(classify_.outermost(call)));
    }
    // Of a call of the split's probe as a whole.
    bool of_call(CallIndex outer) const {
        return classify_.kept(outer) &&
               (!filter_.duration || *filter_.duration == classify_.class_of_call(outer)) &&
               (whole_duration_only_ || fits(outer));
    }

  private:
    bool fits(CallIndex outer) const;

    const Classifier& classify_;
    const ClassFilter& filter_;
    bool whole_duration_only_;
    std::vector<bool> wanted_labels_;
};

} // namespace auger
