// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/explained_calls.h"

namespace auger {

namespace {

size_t bytes_of(const ExplainedCall& call) {
    return sizeof(call) + call.parts.size() * sizeof(CallPart);
}

} // namespace

void ExplainedCalls::add(const CallPartsEvent& event, ProbeId probe, MachineId machine) {
    if (calls_.size() == capacity) {
        bytes_ -= bytes_of(calls_.front());
        calls_.pop_front();
    }
    calls_.push_back({event.end.time_ns, event.end.duration_ns, event.end.call.spec, machine,
                      event.set, event.stands_for, event.incomplete, event.end.waits,
                      event.end.parked_ns, event.end.queued_ns,
                      std::vector<CallPart>(event.parts.begin(), event.parts.end())});
    bytes_ += bytes_of(calls_.back());
    sets_[{probe, machine}] = event.set;
}

bool ExplainedCalls::has_latest_parts(const ExplainedCall& call, ProbeId probe) const {
    const auto latest = sets_.find({probe, call.machine});
    return latest != sets_.end() && latest->second == call.set;
}

} // namespace auger
