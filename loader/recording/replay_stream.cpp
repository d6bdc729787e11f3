// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/replay_stream.h"

#include <algorithm>
#include <utility>

namespace auger {

ReplayStream::ReplayStream(const RecordingSummary& summary, EventSink& sink)
    : sink_(sink), specs_(summary.specs()) {
    for (const auto& [id, recorded] : summary.probes())
        probe(id, recorded.first);
}

// The probe, which is new when a recording has grown since it was summed up.
ReplayStream::Probe& ReplayStream::probe(ProbeId recorded, const ProbeInfo& info) {
    const auto [entry, added] = probes_.try_emplace(recorded);
    if (added) {
        entry->second.info = info;
        entry->second.shown = recorded;
    }
    return entry->second;
}

std::optional<ProbeId> ReplayStream::recorded(ProbeId shown) const {
    for (const auto& [id, probe] : probes_)
        if (probe.shown == shown)
            return id;
    return std::nullopt;
}

void ReplayStream::show(ProbeId recorded_id, ProbeId as) {
    Probe& probe = probes_.at(recorded_id);
    probe.removed = false;
    probe.asked_for = true;
    probe.pending = true;
    const ProbeId before = probe.shown;
    if (before == as)
        return;
    // Ids stay unique: the probe that had this one takes the other in exchange.
    bool taken = false;
    if (const auto owner = recorded(as)) {
        Probe& other = probes_.at(*owner);
        other.shown = before;
        other.pending = taken = other.announced;
    }
    if (probe.announced && !taken)
        retired_.push_back(before);
    probe.shown = as;
    if (split_ && split_->active && (split_->probe == before || split_->probe == as)) {
        split_->probe = split_->probe == before ? as : before;
        split_pending_ = true;
    }
    if (!only_)
        return;
    for (GateTerm& term : only_->gate.terms) {
        if (term.kind != GateTerm::Kind::call || (term.probe != before && term.probe != as))
            continue;
        term.probe = term.probe == before ? as : before;
        only_pending_ = true;
    }
}

void ReplayStream::remove(ProbeId recorded) {
    Probe& probe = probes_.at(recorded);
    probe.removed = true;
    probe.pending = true;
}

void ReplayStream::set_slow(ProbeId recorded, const Threshold& slow) {
    Probe& probe = probes_.at(recorded);
    probe.slow = slow;
    probe.pending = true;
}

void ReplayStream::set_conditions(ProbeId recorded, const CallConditions& conditions) {
    Probe& probe = probes_.at(recorded);
    probe.conditions = conditions;
    probe.pending = true;
}

void ReplayStream::set_only(const OnlyInfo& only) {
    only_ = only;
    own_only_ = true;
    only_pending_ = true;
}

void ReplayStream::set_split(const SplitInfo& split) {
    split_ = split;
    own_split_ = true;
    split_pending_ = true;
}

void ReplayStream::announce() {
    for (const ProbeId id : std::exchange(retired_, {})) {
        ProbeInfo gone;
        gone.id = id;
        gone.deleted = true;
        sink_.on_probe(gone);
    }
    for (auto& [id, probe] : probes_)
        if (std::exchange(probe.pending, false))
            deliver(probe);
    if (std::exchange(split_pending_, false))
        sink_.on_split(*split_);
    if (std::exchange(only_pending_, false))
        sink_.on_only(*only_);
}

void ReplayStream::deliver(Probe& probe) {
    size_t needed = 0;
    for (const SpecId spec : probe.info.specs)
        needed = std::max(needed, spec.index() + 1);
    for (size_t i = spec_probes_.size(); i < needed; ++i)
        deliver_spec(SpecId{static_cast<uint32_t>(i)});
    for (const SpecId spec : probe.info.specs)
        if (spec_probes_[spec.index()] != probe.shown)
            deliver_spec(spec);
    ProbeInfo info = probe.info;
    info.id = probe.shown;
    if (probe.slow)
        info.slow = *probe.slow;
    if (probe.conditions)
        info.conditions = *probe.conditions;
    info.deleted |= probe.removed;
    probe.announced = true;
    sink_.on_probe(info);
}

// For the first time, or again when its probe is shown under another id.
void ReplayStream::deliver_spec(SpecId id) {
    SpecInfo info = specs_[id.index()];
    if (const Probe* probe = probe_of(id))
        info.probe = probe->shown;
    if (id.index() >= spec_probes_.size())
        spec_probes_.resize(id.index() + 1);
    spec_probes_[id.index()] = info.probe;
    sink_.on_spec(id, info);
}

const ReplayStream::Probe* ReplayStream::probe_of(SpecId id) const {
    const auto found = probes_.find(specs_[id.index()].probe);
    return found == probes_.end() ? nullptr : &found->second;
}

void ReplayStream::on_spec(SpecId id, const SpecInfo& info) {
    if (id.index() >= specs_.size())
        specs_.push_back(info);
    // One of several recordings may tell of a later one first.
    for (size_t i = spec_probes_.size(); i <= id.index() && i < specs_.size(); i++)
        deliver_spec(SpecId{static_cast<uint32_t>(i)});
}

void ReplayStream::on_probe(const ProbeInfo& info) {
    Probe& probe = this->probe(info.id, info);
    probe.info = info;
    // What the console removed stays away; what it asked for is there anyhow.
    if (!probe.removed)
        deliver(probe);
}

void ReplayStream::on_split(const SplitInfo& info) {
    if (own_split_)
        return;
    split_ = info;
    if (const auto found = probes_.find(info.probe); found != probes_.end())
        split_->probe = found->second.shown;
    sink_.on_split(*split_);
}

void ReplayStream::on_only(const OnlyInfo& info) {
    if (own_only_)
        return;
    only_ = info;
    for (GateTerm& term : only_->gate.terms)
        if (const auto found = probes_.find(term.probe);
            term.kind == GateTerm::Kind::call && found != probes_.end())
            term.probe = found->second.shown;
    sink_.on_only(*only_);
}

void ReplayStream::on_slow_call(const SlowCallEvent& event) {
    const Probe* probe = probe_of(event.end.call.spec);
    SlowCallEvent kept = event;
    kept.end = translated(event.end);
    kept.stack = stacks_.of(event.stack);
    if (!probe || (!probe->removed && !probe->slow))
        return sink_.on_slow_call(kept);
    if (probe->removed || probe->slow->kind == Threshold::Kind::none)
        return;
    if (probe->slow->kind == Threshold::Kind::fixed) {
        if (event.end.duration_ns <= probe->slow->fixed_ns)
            return;
        kept.threshold_ns = probe->slow->fixed_ns;
    }
    sink_.on_slow_call(kept);
}

void ReplayStream::on_call_parts(const CallPartsEvent& event) {
    const Probe* probe = probe_of(event.end.call.spec);
    if (probe && probe->removed)
        return;
    CallPartsEvent kept = event;
    kept.end = translated(event.end);
    sink_.on_call_parts(kept);
}

void ReplayStream::on_stats(const StatsEvent& event) {
    const Probe* probe = probe_of(event.spec);
    if (!probe || !probe->removed)
        sink_.on_stats(event);
}

void ReplayStream::pass_time(uint64_t time_ns) {
    if (time_ns < time_ns_)
        return;
    time_ns_ = time_ns;
    sink_.on_time(time_ns);
}

} // namespace auger
