// SPDX-License-Identifier: GPL-3.0-or-later
// Calls nest, so the outermost call of the probe around a call is found once by going outwards.
#include "views/model/classifier.h"

namespace auger {

namespace {
// Chains are at most WIRE_MAX_OPEN_CALLS long; only a damaged recording could make a longer one.
constexpr int max_chain = 4 * WIRE_MAX_OPEN_CALLS;
} // namespace

Classifier::Classifier(const Model& model)
    : model_(model), so_far_(model.split().so_far), state_(model.split_state()) {
    if (!model.split().active)
        return;
    std::vector<uint8_t> is_probe(model.specs().size());
    for (size_t i = 0; i < is_probe.size(); i++)
        is_probe[i] = model.specs()[i].probe == model.split().probe;

    const CallTable& calls = model.calls();
    outermost_.assign(calls.size(), no_call);
    classes_.assign(calls.size(), CallClass::open);
    for (size_t i = 0; i < calls.size(); i++) {
        CallIndex index{static_cast<uint32_t>(i)};
        const CallRecord& call = calls[index];
        if (call.references == 0)
            continue; // a free record
        int steps = 0;
        for (CallIndex at = index; at != no_call && steps < max_chain; steps++) {
            if (calls[at].spec.index() < is_probe.size() && is_probe[calls[at].spec.index()]) {
                recursive_ |= outermost_[i] != no_call;
                outermost_[i] = at;
            }
            at = calls[at].parent;
        }
        if (state_.in_force()) {
            if (call.state != CallRecord::State::open)
                classes_[i] =
                    call.duration_ns > state_.value_ns ? CallClass::slow : CallClass::fast;
            else if (model.now_ns() > call.start_ns &&
                     model.now_ns() - call.start_ns > state_.value_ns)
                classes_[i] = CallClass::slow; // has outlived the threshold already
        }
    }
}

CallClass Classifier::class_so_far(CallIndex outer, uint64_t time_ns) const {
    if (!state_.in_force())
        return CallClass::open;
    uint64_t start = model_.calls()[outer].start_ns;
    return time_ns > start && time_ns - start > state_.value_ns ? CallClass::slow : CallClass::fast;
}

} // namespace auger
