// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/format.h"
#include "loader/recording/ledger_totals.h"
#include "loader/recording/machine_stream.h"

#include <algorithm>
#include <functional>

namespace auger {

void CommonStream::begin_pass() {
    const size_t sessions = ledgers_.size();
    ledgers_.assign(sessions, {});
    totals_ = {};
    splits_.assign(sessions, {});
    onlys_.assign(sessions, {});
    locations = stacks = threads = 0;
    modules_ = 0;
    module_ids_.clear();
    probe_parts_.clear();
    former_specs_.clear();
    labels_.clear();
}

std::pair<ModuleId, bool> CommonStream::module(const ModuleInfo& info) {
    if (info.kind == ModuleKind::jit)
        return {ModuleId{modules_++}, true};
    const auto [module, is_new] =
        module_ids_.try_emplace({info.kind, info.path, info.build_id}, ModuleId{modules_});
    modules_ += is_new;
    return {module->second, is_new};
}

std::optional<ProbeId> CommonStream::probe(const ProbeInfo& info, size_t number) {
    if (probes_are_ == Probes::by_number) {
        const auto announced = announced_.find(info.id);
        return announced != announced_.end() ? std::optional(announced->second) : std::nullopt;
    }
    const auto next = ProbeId{static_cast<uint32_t>(probes_.size() + 1)};
    return probes_.try_emplace({info.text, number}, next).first->second;
}

ProbeInfo CommonStream::believed(ProbeInfo told) const {
    const auto asked = asked_probes_.find(told.id);
    if (probes_are_ == Probes::by_number && asked != asked_probes_.end()) {
        told.text = asked->second.text;
        told.slow = asked->second.slow;
        told.conditions = asked->second.conditions;
        told.span = asked->second.span;
    }
    return told;
}

std::optional<SplitInfo> CommonStream::believed(SplitInfo told) const {
    if (probes_are_ == Probes::by_text)
        return told;
    if (!told.active && !asked_split_.active)
        return SplitInfo{};
    const auto is_equal = [&](const auto member) {
        return std::invoke(member, told) == std::invoke(member, asked_split_);
    };
    if (!is_equal(&SplitInfo::active) || !is_equal(&SplitInfo::probe) ||
        !is_equal(&SplitInfo::threshold) || !is_equal(&SplitInfo::so_far) ||
        !is_equal(&SplitInfo::branch) || !is_equal(&SplitInfo::label))
        return std::nullopt;
    return told;
}

std::optional<OnlyInfo> CommonStream::believed(OnlyInfo told) const {
    if (probes_are_ == Probes::by_text)
        return told;
    if (told.text != asked_only_.text)
        return std::nullopt;
    OnlyInfo only = asked_only_;
    only.marks = std::move(told.marks);
    std::erase_if(only.marks, [&](const MarkInfo& mark) {
        return std::ranges::none_of(
            only.lines, [&](const std::string& line) { return mark.text == "at " + line; });
    });
    return only;
}

void CommonStream::begin_anew(size_t session) {
    for (auto& [probe, parts] : probe_parts_) {
        const auto part = parts.find(session);
        if (part == parts.end())
            continue;
        std::vector<SpecId>& former = former_specs_[probe];
        former.insert(former.end(), part->second.specs.begin(), part->second.specs.end());
        parts.erase(part);
    }
    splits_[session] = {};
    onlys_[session] = {};
    ledgers_[session] = {}; // its totals stay
}

ProbeInfo CommonStream::merged(size_t session, const ProbeInfo& info) {
    std::map<size_t, ProbeInfo>& parts = probe_parts_[info.id];
    parts[session] = info;
    ProbeInfo merged = info;
    merged.specs.clear();
    if (const auto former = former_specs_.find(info.id); former != former_specs_.end())
        merged.specs = former->second;
    for (const auto& [id, part] : parts) {
        merged.specs.insert(merged.specs.end(), part.specs.begin(), part.specs.end());
        merged.deleted &= part.deleted;
        merged.off &= part.off;
        if (merged.slow.kind == Threshold::Kind::none && !part.deleted)
            merged.slow = part.slow;
    }
    return merged;
}

std::optional<uint32_t> CommonStream::mark_bit(ProbeId probe, const std::string& text) {
    // A line is the same for all calls, a predicate is about those of one probe.
    const std::string key =
        text.starts_with("at ") ? text : std::to_string(probe.value) + " " + text;
    if (mark_bits_.size() >= most_marks && !mark_bits_.contains(key))
        return std::nullopt;
    return mark_bits_.try_emplace(key, static_cast<uint32_t>(mark_bits_.size())).first->second;
}

void CommonStream::end_session(size_t session) {
    splits_[session] = {};
    onlys_[session] = {};
}

std::pair<LabelId, bool> CommonStream::label(const std::string& text) {
    const auto [label, is_new] =
        labels_.try_emplace(text, LabelId{static_cast<uint32_t>(labels_.size())});
    return {label->second, is_new};
}

SplitInfo CommonStream::merged(size_t session, const SplitInfo& info) {
    splits_[session] = info;
    SplitInfo merged = info;
    if (!merged.active) {
        const auto other = std::ranges::find(splits_, true, &SplitInfo::active);
        if (other == splits_.end())
            return merged;
        merged = *other;
    }
    for (const SplitInfo& other : splits_) {
        if (!other.active || other.probe != merged.probe)
            continue;
        if (other.branch == merged.branch)
            merged.branch_since_ns = std::min(merged.branch_since_ns, other.branch_since_ns);
        if (other.label == merged.label)
            merged.label_since_ns = std::min(merged.label_since_ns, other.label_since_ns);
    }
    return merged;
}

OnlyInfo CommonStream::merged(size_t session, const OnlyInfo& info) {
    onlys_[session] = info;
    const auto in_force = [](const OnlyInfo& only) { return !only.text.empty(); };
    OnlyInfo merged = info;
    if (!in_force(merged)) {
        const auto other = std::ranges::find_if(onlys_, in_force);
        if (other == onlys_.end())
            return merged;
        merged = *other;
    }
    for (MarkInfo& mark : merged.marks)
        for (const OnlyInfo& other : onlys_)
            for (const MarkInfo& same : other.marks)
                if (same.text == mark.text)
                    mark.since_ns = std::min(mark.since_ns, same.since_ns);
    return merged;
}

namespace {

// A recording, and a relay's stream, take a few more (format.h).
constexpr size_t most_causes = recording::max_causes - 8;
constexpr char other_causes[] = "other causes: more than are told apart";

// Of several machines at about the same time.
void add(Overhead& sum, const Overhead& one) {
    if (one.end_ns > sum.end_ns) {
        sum.begin_ns = one.begin_ns;
        sum.end_ns = one.end_ns;
    }
    sum.target_ns += one.target_ns;
    sum.waits += one.waits;
    sum.wait_samples += one.wait_samples;
    sum.lost_wait_samples += one.lost_wait_samples;
    sum.lost_samples += one.lost_samples;
    sum.waited_ns += one.waited_ns;
    for (const Overhead::Cause& cause : one.causes) {
        const auto same = std::ranges::find_if(sum.causes, [&](const Overhead::Cause& other) {
            return other.kind == cause.kind && other.probe == cause.probe;
        });
        if (same == sum.causes.end()) {
            sum.causes.push_back(cause);
        } else {
            same->events += cause.events;
            same->cost_ns += cause.cost_ns;
        }
    }
}

} // namespace

// Whoever makes causes up does not fill the account: what there is no room for is one cause. Those
// that others look for have theirs.
LedgerEvent CommonStream::with_known_causes(LedgerEvent event) {
    if (totals_.lost.size() >= most_causes)
        std::erase_if(totals_.lost, [](const auto& cause) { return cause.second == 0; });
    size_t room = most_causes - std::min(most_causes, totals_.lost.size());
    std::map<std::string, uint64_t> lost;
    for (const auto& [cause, events] : event.lost) {
        const bool is_known =
            totals_.lost.contains(cause) || cause == lost_samples || cause == lost_wait_samples;
        if (is_known || room > 0)
            lost[cause] += events;
        else
            lost[other_causes] += events;
        room -= !is_known && room > 0;
    }
    event.lost = std::move(lost);
    return event;
}

LedgerEvent CommonStream::merged(size_t session, const LedgerEvent& event) {
    // Each tells its account twice a second: to add up that of all for each of them would be the
    // most that is done for a thousand hosts.
    subtract_totals(totals_, ledgers_[session]);
    ledgers_[session] = with_known_causes(event);
    add_totals(totals_, ledgers_[session]);
    LedgerEvent sum = totals_;
    sum.time_ns = event.time_ns;
    uint64_t on_cpu_ns = 0; // of those that sample now
    double achieved = 0;    // rate * time on the CPU
    for (const LedgerEvent& one : ledgers_) {
        sum.rate_hz = std::max(sum.rate_hz, one.rate_hz);
        sum.sample_gap_ns = std::max(sum.sample_gap_ns, one.sample_gap_ns);
        sum.wall |= one.wall;
        sum.goroutines = std::max(sum.goroutines, one.goroutines);
        sum.waits_hz = std::max(sum.waits_hz, one.waits_hz);
        add(sum.overhead, one.overhead);
        achieved += one.rate_achieved_hz * static_cast<double>(one.on_cpu_ns);
        on_cpu_ns += one.on_cpu_ns;
    }
    if (on_cpu_ns)
        sum.rate_achieved_hz =
            std::min(achieved / static_cast<double>(on_cpu_ns), recording::max_rate_hz);
    return sum;
}

} // namespace auger
