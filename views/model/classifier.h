// SPDX-License-Identifier: GPL-3.0-or-later
// Decides the class of stored samples for the split in force.
#pragma once

#include "loader/base/result.h"
#include "views/model/model.h"

namespace auger {

class Classifier {
  public:
    // For a query of every sample, all calls are decided first, so that each sample costs one
    // look-up; for a look at a few of them each is decided when asked for. In steps: as for all
    // samples, but nothing may be asked before decide_more() has said that all are decided.
    enum class For : uint8_t { all_samples, a_few, all_in_steps };
    explicit Classifier(const Model& model, For use = For::all_samples);
    // Decides some calls; returns whether any are left.
    bool decide_more(size_t most);

    // The class by duration of a sample taken at `time_ns` in `call` (its innermost one, or
    // no_call).
    CallClass operator()(CallIndex call, uint64_t time_ns) const {
        CallIndex outer = outermost(call, time_ns);
        if (outer == no_call)
            return CallClass::outside;
        return so_far_ ? class_so_far(outer, time_ns) : class_of_call(outer);
    }
    // The outermost call of the split's probe that encloses `call`; no_call when there is none.
    CallIndex outermost(CallIndex call) const {
        if (call == no_call || !split_)
            return no_call;
        return decided_ ? outermost_[call.index()] : find_outermost(call).call;
    }
    // Of what happened at a time: it is in no call that had ended by then.
    CallIndex outermost(CallIndex call, uint64_t time_ns) const {
        const CallIndex outer = outermost(call);
        return outer != no_call && told_late_ && had_ended(outer, time_ns) ? no_call : outer;
    }
    // The class of that call itself.
    CallClass class_of_call(CallIndex outer) const {
        return decided_ ? classes_[outer.index()] : decide_class(outer);
    }
    // Whether its duration is in the range; a call that runs still is in one without an end, once
    // it is old enough.
    bool in_range(CallIndex outer, const DurationRange&) const;
    // Whether that call took the split's branch; nothing when it is not known.
    std::optional<bool> taken(CallIndex outer) const;
    // The value that the split is by; no_label when it is not known.
    LabelId label(CallIndex outer) const;
    // Whether `only` keeps what happened in `call`: its lines were (or were not) executed in the
    // split's outermost call, or without a split in any timed call around.
    bool kept(CallIndex call) const {
        if (!by_lines_)
            return true;
        return call != no_call && (decided_ ? kept_[call.index()] : decide_kept(call));
    }
    // ... and the stack is one that it asks for.
    bool kept(CallIndex call, StackId stack) const { return kept(call) && keeps(stack); }
    bool keeps(StackId stack) const { return kept_stacks_(stack); }
    // The call on which everything depends that is said of a sample in `call`; no_call when nothing
    // ever changes.
    CallIndex decisive(CallIndex call) const {
        return split_ || !by_lines_ ? outermost(call) : call;
    }
    // Whether it has ended and does not count, so that another one decides.
    bool is_filtered(CallIndex decisive) const {
        return model_.calls()[decisive].state == CallRecord::State::filtered;
    }
    // Whether calls of the split's probe end before that is known.
    bool told_late() const { return told_late_; }
    // Whether that call can still change what is said of a sample in it (while the split stays).
    bool is_open(CallIndex decisive) const;
    // True when a call of the probe was seen inside another one of it.
    bool recursive() const { return recursive_; }

  private:
    struct Outermost {
        CallIndex call = no_call;
        bool recursive = false; // another one of the probe is inside
    };
    bool had_ended(CallIndex outer, uint64_t time_ns) const {
        const CallRecord& call = model_.calls()[outer];
        return call.state != CallRecord::State::open && time_ns > call.start_ns + call.duration_ns;
    }
    CallClass class_so_far(CallIndex outer, uint64_t time_ns) const;
    Outermost find_outermost(CallIndex) const;
    CallClass decide_class(CallIndex outer) const;
    uint64_t lasts_ns(const CallRecord&) const;
    bool decide_kept(CallIndex) const;

    const Model& model_;
    bool split_ = false;
    bool so_far_ = false;
    bool told_late_ = false; // see ProbeInfo::is_exchanges()
    uint64_t late_ns_ = 0;   // by how much at most
    bool recursive_ = false;
    bool by_lines_ = false;
    bool decided_ = false;
    size_t next_ = 0; // call to decide
    ThresholdState state_;
    StackTest kept_stacks_;
    std::vector<uint8_t> is_probe_; // by spec: of the split's
    // By call, once all are decided.
    std::vector<CallIndex> outermost_;
    std::vector<CallClass> classes_; // meaningful for outermost ones
    std::vector<uint8_t> kept_;
};

// What is lacking for this class to exist: the split's threshold, branch or expression, a host, a
// function that was sampled; nothing where there is everything.
std::optional<Error> lacking_part(const Model& model, const ClassFilter& filter);

// Whether samples and calls are of a class, and kept by `only`.
class ClassTest {
  public:
    ClassTest(const Model& model, const Classifier& classify, const ClassFilter& filter);

    // Of something that happened on a thread, on this stack.
    bool operator()(CallIndex call, uint64_t time_ns, ThreadId thread, StackId stack) const {
        return fits_call(call, time_ns, thread) && fits_stack(stack);
    }
    // The two parts of that.
    bool fits_stack(StackId stack) const { return classify_.keeps(stack) && in_(stack); }
    bool fits_call(CallIndex call, uint64_t time_ns, ThreadId thread) const {
        return (!filter_.host || is_on_host(model_.symbols().thread(thread).machine)) &&
               (!filter_.process || model_.symbols().thread(thread).pid == *filter_.process) &&
               classify_.kept(call) &&
               (!filter_.duration || *filter_.duration == classify_(call, time_ns)) &&
               (by_duration_class_ || fits(classify_.outermost(call, time_ns)));
    }
    // Of a call of the split's probe as a whole.
    bool of_call(CallIndex outer) const {
        return (!filter_.host || is_on_host(machine_of(outer))) && classify_.kept(outer) &&
               (!filter_.duration || *filter_.duration == classify_.class_of_call(outer)) &&
               (by_duration_class_ || fits(outer));
    }

    // Whether a call was made on the host that is asked for.
    bool of_host(CallIndex call) const { return !filter_.host || is_on_host(machine_of(call)); }

  private:
    bool is_on_host(MachineId machine) const { return model_.is_on(*filter_.host, machine); }
    MachineId machine_of(CallIndex call) const {
        const size_t spec = model_.calls()[call].spec.index();
        return spec < model_.specs().size() ? model_.specs()[spec].machine : MachineId{};
    }
    bool fits(CallIndex outer) const;
    bool is_wanted(LabelId) const;

    const Model& model_;
    const Classifier& classify_;
    const ClassFilter& filter_;
    StackTest in_;
    bool by_duration_class_;                    // and by nothing else
    mutable std::vector<int8_t> wanted_labels_; // by label; -1: not looked at yet
};

} // namespace auger
