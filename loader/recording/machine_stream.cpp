// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/machine_stream.h"

#include "loader/base/saturating.h"

#include <algorithm>

namespace auger {

uint64_t MachineStream::common_time(uint64_t time_ns) const {
    if (time_ns == UINT64_MAX) // never
        return time_ns;
    uint64_t moved = time_ns + static_cast<uint64_t>(shift_ns_);
    if (shift_ns_ < 0)
        moved = moved < time_ns ? moved : 0;
    else
        moved = moved >= time_ns ? moved : UINT64_MAX - 1;
    return std::max(moved, earliest_ns_);
}

uint64_t MachineStream::own_time(uint64_t common_ns) const {
    if (common_ns == UINT64_MAX)
        return common_ns;
    const uint64_t moved = common_ns - static_cast<uint64_t>(shift_ns_);
    if (shift_ns_ < 0)
        return moved > common_ns ? moved : UINT64_MAX - 1;
    return moved <= common_ns ? moved : 0;
}

void MachineStream::begin_pass() {
    begin_file();
    known_locations_.clear();
    known_stacks_.clear();
    known_threads_.clear();
    jit_modules_.clear();
    told_specs_.clear();
    for (auto* told : {&told_frames_, &told_probes_, &told_split_, &told_only_})
        told->clear();
    nameless_specs_.clear();
    mark_bits_ = unknown_bits();
    branch_.reset();
    lines_.clear();
    label_since_ns_ = 0;
}

void MachineStream::begin_file() {
    modules_.clear();
    locations_.clear();
    stacks_.clear();
    threads_.clear();
    labels_.clear();
    known_locations_.age();
    known_stacks_.age();
    known_threads_.age();
    told_frames_.age();
}

template <typename IdType>
std::pair<IdType, bool> MachineStream::same(Generations<std::string, IdType>& known,
                                            const std::string& content, uint32_t& given) {
    if (const IdType* id = known.find(content))
        return {*id, false};
    if (known.size() >= most_remembered)
        known.age();
    return {known.insert(content, IdType{given++}), true};
}

template <typename Id, typename Put>
bool MachineStream::is_news(Generations<Id, std::string>& told, Id of, Put put) {
    encoder_.clear();
    put();
    if (const std::string* before = told.find(of); before && *before == encoder_.bytes())
        return false;
    if (told.size() >= most_remembered)
        told.age();
    told.insert(of, encoder_.bytes());
    return true;
}

void MachineStream::on_module(ModuleId id, const ModuleInfo& info) {
    definition_bytes_ += sizeof info + info.path.size() + info.build_id.size();
    // Generated code is known by its process's module, whose number files of a session share.
    if (info.kind == ModuleKind::jit)
        if (const auto known = jit_modules_.find(id); known != jit_modules_.end())
            return modules_.set(id, known->second);
    const auto [module, is_new] = common_.module(info);
    if (info.kind == ModuleKind::jit)
        jit_modules_.emplace(id, module);
    modules_.set(id, module);
    if (is_new)
        sink_->on_module(module, info);
}

void MachineStream::on_location(LocationId id, const Location& location) {
    definition_bytes_ += sizeof location;
    Location told = location;
    told.module = modules_.of(location.module);
    std::string content;
    ByteWriter out(content);
    out.fixed32(told.module.value);
    out.fixed64(told.address);
    out.varint(told.is_return);
    const auto [own, is_new] = same(known_locations_, content, common_.locations);
    locations_.set(id, own);
    if (is_new)
        sink_->on_location(own, told);
}

void MachineStream::on_frames(LocationId id, std::span<const Frame> frames) {
    for (const Frame& frame : frames)
        definition_bytes_ += sizeof frame + frame.function.size() + frame.file.size();
    const LocationId own = locations_.of(id);
    if (is_news(told_frames_, own.value, [&] { encoder_.on_frames(own, frames); }))
        sink_->on_frames(own, frames);
}

void MachineStream::on_stack(StackId id, std::span<const LocationId> stack) {
    stack_.clear();
    std::string content;
    ByteWriter out(content);
    for (const LocationId location : stack) {
        stack_.push_back(locations_.of(location));
        out.fixed32(stack_.back().value);
    }
    const auto [own, is_new] = same(known_stacks_, content, common_.stacks);
    stacks_.set(id, own);
    if (is_new)
        sink_->on_stack(own, stack_);
}

void MachineStream::on_thread(ThreadId id, const ThreadInfo& info) {
    ThreadInfo told = info;
    told.machine = next_origin();
    std::string content;
    ByteWriter out(content);
    out.varint(told.machine.value);
    out.varint(info.pid);
    out.varint(info.tid);
    out.string(info.comm);
    out.string(info.cgroup);
    out.string(info.container.name);
    out.string(info.container.pod);
    out.string(info.container.pod_namespace);
    out.varint(info.kernel);
    const auto [own, is_new] = same(known_threads_, content, common_.threads);
    threads_.set(id, own);
    if (is_new)
        sink_->on_thread(own, told);
}

void MachineStream::tell_spec(SpecId id, SpecInfo info) {
    info.probe = probes_.at(info.probe);
    if (!specs_.knows(id))
        specs_.set(id, SpecId{common_.specs++});
    if (told_specs_.insert(id).second)
        sink_->on_spec(specs_.of(id), info);
}

// Which probe it belongs to is known by the probe's text.
void MachineStream::on_spec(SpecId id, const SpecInfo& info) {
    definition_bytes_ += sizeof info + info.function.size() + info.module.size();
    SpecInfo told = info;
    told.machine = next_origin();
    if (told.machine != id_)
        spec_machines_.insert_or_assign(id, told.machine);
    if (probes_.contains(info.probe))
        tell_spec(id, std::move(told));
    else
        nameless_specs_.emplace_back(id, std::move(told));
}

void MachineStream::on_probe(const ProbeInfo& info) {
    if (!probes_.contains(info.id)) {
        // Texts are asked for where they are what a probe is known by.
        const bool by_text = common_.probes_are() == CommonStream::Probes::by_text;
        const auto common = common_.probe(info, by_text ? probe_texts_[info.text]++ : 0);
        if (!common)
            return;
        probes_.emplace(info.id, *common);
    }
    for (const auto& [id, spec] : nameless_specs_)
        if (spec.probe == info.id)
            tell_spec(id, spec);
    std::erase_if(nameless_specs_, [&](const auto& spec) { return spec.second.probe == info.id; });
    ProbeInfo told = info;
    told.id = probes_.at(info.id);
    told.specs.clear();
    for (const SpecId spec : info.specs)
        if (specs_.knows(spec))
            told.specs.push_back(specs_.of(spec));
    told = common_.believed(std::move(told));
    if (is_news(told_probes_, told.id.value, [&] { encoder_.on_probe(told); }))
        sink_->on_probe(common_.merged(session_, told));
}

std::optional<uint32_t> MachineStream::watch_mark(const MarkInfo& mark, ProbeId probe) {
    const auto common = common_.mark_bit(probe, mark.text);
    if (mark.bit < mark_bits_.size())
        mark_bits_[mark.bit] = common.value_or(no_bit);
    return common;
}

// By what this machine watched, which others may have watched for longer, or not at all.
bool MachineStream::knows_marks(const CallEndEvent& event) const {
    const auto within = [&](const MarkInfo& mark) {
        return event.call.start_ns >= mark.since_ns && event.time_ns <= mark.until_ns;
    };
    return (branch_ || !lines_.empty()) && (!branch_ || within(*branch_)) &&
           std::ranges::all_of(lines_, within);
}

void MachineStream::on_split(const SplitInfo& info) {
    if (!is_news(told_split_, 0u, [&] { encoder_.on_split(info); }))
        return;
    SplitInfo told = info;
    if (const auto probe = probes_.find(info.probe); probe != probes_.end())
        told.probe = probe->second;
    else
        told.active = false;
    told.branch_since_ns = common_time(info.branch_since_ns);
    told.branch_until_ns = common_time(info.branch_until_ns);
    told.label_since_ns = common_time(info.label_since_ns);
    told.label_until_ns = common_time(info.label_until_ns);
    if (const auto believed = common_.believed(told))
        told = *believed;
    else
        return;
    branch_.reset();
    label_since_ns_ = info.label_since_ns;
    if (told.active && !info.branch.empty()) {
        const MarkInfo mark{info.branch_bit, info.branch.text(), info.branch_since_ns,
                            info.branch_until_ns};
        if (const auto bit = watch_mark(mark, told.probe)) {
            told.branch_bit = *bit;
            branch_ = mark;
        } else {
            told.branch = {};
        }
    }
    sink_->on_split(common_.merged(session_, told));
}

void MachineStream::on_only(const OnlyInfo& info) {
    if (!is_news(told_only_, 0u, [&] { encoder_.on_only(info); }))
        return;
    OnlyInfo told = info;
    for (GateTerm& term : told.gate.terms)
        if (const auto probe = probes_.find(term.probe);
            term.kind == GateTerm::Kind::call && probe != probes_.end())
            term.probe = probe->second;
    if (const auto believed = common_.believed(std::move(told)))
        told = *believed;
    else
        return;
    lines_ = told.marks;
    std::erase_if(told.marks, [&](MarkInfo& mark) {
        const auto bit = watch_mark(mark, ProbeId{});
        mark.bit = bit.value_or(0);
        mark.since_ns = common_time(mark.since_ns);
        mark.until_ns = common_time(mark.until_ns);
        return !bit;
    });
    sink_->on_only(common_.merged(session_, told));
}

void MachineStream::on_label(LabelId id, const std::string& text) {
    definition_bytes_ += sizeof text + text.size();
    const auto [label, is_new] = common_.label(text);
    labels_.set(id, label);
    if (is_new)
        sink_->on_label(label, text);
}

CallKey MachineStream::common_call(const CallKey& call) const {
    return {common_time(call.start_ns), call.sequence, specs_.of(call.spec)};
}

uint32_t MachineStream::common_marks(uint32_t marks) const {
    uint32_t common = 0;
    for (uint32_t bit = 0; bit < mark_bits_.size(); bit++)
        if (marks >> bit & 1 && mark_bits_[bit] != no_bit)
            common |= 1u << mark_bits_[bit];
    return common;
}

CallEndEvent MachineStream::common_end(const CallEndEvent& event) const {
    CallEndEvent told = event;
    told.time_ns = common_time(event.time_ns);
    told.thread = threads_.of(event.thread);
    told.call = common_call(event.call);
    told.marks = common_marks(event.marks);
    told.marks_known = event.marks_known && knows_marks(event);
    if (event.label && event.call.start_ns >= label_since_ns_)
        told.label = labels_.of(*event.label);
    else
        told.label.reset();
    return told;
}

// Into calls_.
void MachineStream::common_calls(std::span<const CallKey> calls) {
    calls_.clear();
    for (const CallKey& call : calls)
        if (specs_.knows(call.spec))
            calls_.push_back(common_call(call));
}

void MachineStream::on_sample(const SampleEvent& event) {
    common_calls(event.calls);
    SampleEvent told = event;
    told.time_ns = common_time(event.time_ns);
    told.thread = threads_.of(event.thread);
    told.stack = stacks_.of(event.stack);
    told.calls = calls_;
    sink_->on_sample(told);
}

void MachineStream::on_call_end(const CallEndEvent& event) {
    if (specs_.knows(event.call.spec))
        sink_->on_call_end(common_end(event));
}

void MachineStream::on_slow_call(const SlowCallEvent& event) {
    if (!specs_.knows(event.end.call.spec))
        return;
    common_calls(event.enclosing);
    SlowCallEvent told = event;
    told.end = common_end(event.end);
    told.stack = stacks_.of(event.stack);
    told.enclosing = calls_;
    sink_->on_slow_call(told);
}

void MachineStream::on_call_parts(const CallPartsEvent& event) {
    if (!specs_.knows(event.end.call.spec))
        return;
    parts_.clear();
    for (const CallPart& part : event.parts)
        if (specs_.knows(part.spec))
            parts_.push_back({specs_.of(part.spec), part.calls, part.self_ns});
    CallPartsEvent told = event;
    told.end = common_end(event.end);
    told.parts = parts_;
    sink_->on_call_parts(told);
}

void MachineStream::on_stats(const StatsEvent& event) {
    if (!specs_.knows(event.spec))
        return;
    StatsEvent told = event;
    told.time_ns = common_time(event.time_ns);
    told.spec = specs_.of(event.spec);
    int64_t& open = open_[told.spec];
    open = saturating_sum(open, event.open);
    // Of several bits that were given to one mark the counts are one.
    std::map<uint32_t, StatsEvent::MarkCount> marked;
    for (const StatsEvent::MarkCount& count : event.marked) {
        const uint32_t bit = mark_bits_[count.bit];
        if (bit == no_bit)
            continue;
        StatsEvent::MarkCount& sum =
            marked.try_emplace(bit, StatsEvent::MarkCount{bit, 0, 0}).first->second;
        sum.taken += count.taken;
        sum.not_taken += count.not_taken;
    }
    told.marked.clear();
    for (const auto& [bit, count] : marked)
        told.marked.push_back(count);
    sink_->on_stats(told);
}

void MachineStream::on_ledger(const LedgerEvent& event) {
    LedgerEvent told = event;
    told.time_ns = common_time(event.time_ns);
    if (event.overhead.end_ns) {
        told.overhead.begin_ns = common_time(event.overhead.begin_ns);
        told.overhead.end_ns = common_time(event.overhead.end_ns);
    }
    // An agent's numbers of what was never asked for would be those of other probes here.
    const bool by_number = common_.probes_are() == CommonStream::Probes::by_number;
    std::erase_if(told.overhead.causes, [&](Overhead::Cause& cause) {
        const auto probe = probes_.find(cause.probe);
        const bool is_known = probe != probes_.end();
        if (is_known)
            cause.probe = probe->second;
        else if (by_number)
            cause.probe = {};
        return !is_known && by_number && cause.kind == Overhead::Cause::Kind::probe;
    });
    sink_->on_ledger(common_.merged(session_, told));
}

void MachineStream::drop_open_calls(uint64_t common_ns) {
    for (const auto& [spec, open] : open_) {
        if (open <= 0)
            continue;
        StatsEvent gone;
        gone.time_ns = common_ns;
        gone.spec = spec;
        gone.open = -open;
        gone.dropped = static_cast<uint64_t>(open);
        sink_->on_stats(gone);
    }
    open_.clear();
}

std::optional<SpecId> MachineStream::common(SpecId spec) const {
    return specs_.knows(spec) ? std::optional(specs_.of(spec)) : std::nullopt;
}

std::optional<OpenCall> MachineStream::common(const OpenCall& call) const {
    const auto probe = probes_.find(call.probe);
    if (probe == probes_.end() || !specs_.knows(call.spec))
        return std::nullopt;
    OpenCall told = call;
    static_cast<ThreadNow&>(told) = common(static_cast<const ThreadNow&>(call));
    told.probe = probe->second;
    told.spec = specs_.of(call.spec);
    const auto relayed = spec_machines_.find(call.spec);
    told.thread.machine = relayed != spec_machines_.end() ? relayed->second : id_;
    return told;
}

ThreadNow MachineStream::common(const ThreadNow& thread) const {
    ThreadNow told = thread;
    const auto relayed = relayed_.find(thread.thread.machine);
    told.thread.machine = relayed != relayed_.end() ? relayed->second : id_;
    told.stack.clear();
    for (const LocationId location : thread.stack)
        if (locations_.knows(location))
            told.stack.push_back(locations_.of(location));
    return told;
}

void MachineStream::on_notice(uint64_t time_ns, const std::string& text) {
    sink_->on_notice(common_time(time_ns), alone_ ? text : info_.name + ": " + text);
}

void MachineStream::on_time(uint64_t time_ns) {
    sink_->on_time(common_time(time_ns));
}

} // namespace auger
