// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/loader_recording_stream.h"

#include "bpf/wire.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

std::string text_of(const Threshold& threshold) {
    return fmt::format("threshold {} {} {}", static_cast<int>(threshold.kind), threshold.fixed_ns,
                       threshold.percentile);
}

std::string text_of(const CallKey& call) {
    return fmt::format("call {} {} {}", call.start_ns, call.sequence, call.spec.value);
}

std::string text_of(const CallEndEvent& end) {
    std::string waits =
        end.waits ? fmt::format("{}+{}", end.waits->blocked_ns, end.waits->runnable_ns) : "-";
    return fmt::format("{} {} {} {} {} {} {} {:x} {}{}", end.time_ns, end.duration_ns,
                       end.thread.value, text_of(end.call), end.samples, end.unwound, waits,
                       end.marks, end.label ? std::to_string(end.label->value) : "-",
                       end.filtered ? " filtered" : "") +
           (end.parked_ns || end.queued_ns
                ? fmt::format(" parked {} queued {}", end.parked_ns, end.queued_ns)
                : "");
}

std::string text_of(const std::vector<Clause>& clauses) {
    std::string text;
    for (const Clause& clause : clauses) {
        text += " [";
        for (const uint32_t term : clause.all)
            text += fmt::format(" {}", term);
        for (const uint32_t term : clause.none)
            text += fmt::format(" !{}", term);
        text += " ]";
    }
    return text;
}

// Not every test defines what it names.
std::string known(const std::vector<std::string>& by_id, size_t id) {
    return id < by_id.size() ? by_id[id] : "?";
}

} // namespace

void Transcript::define(std::string line) {
    definitions.push_back(line);
    lines.push_back(std::move(line));
}

void Transcript::change(std::string line) {
    changes_++;
    define(std::move(line));
}

void Transcript::happen(std::string line, std::string resolved) {
    events.push_back(fmt::format("{} after {} changes", resolved, changes_));
    lines.push_back(std::move(line));
}

std::string Transcript::resolved(const CallEndEvent& end) const {
    CallEndEvent told = end;
    told.thread = ThreadId{0};
    told.label.reset();
    const auto thread = threads_.find(end.thread.value);
    return fmt::format("{} {} label {}", text_of(told),
                       thread == threads_.end() ? "?" : thread->second,
                       end.label ? known(labels_, end.label->index()) : "-");
}

void Transcript::on_module(ModuleId id, const ModuleInfo& info) {
    define(fmt::format("module {} {} {} {}", id.value, static_cast<int>(info.kind), info.path,
                       info.build_id));
    modules_.push_back(info.path + " " + info.build_id);
}
void Transcript::on_location(LocationId id, const Location& location) {
    define(fmt::format("location {} {} {} {}", id.value, location.module.value, location.address,
                       location.is_return));
    locations_.push_back(fmt::format("{} {} {}", known(modules_, location.module.index()),
                                     location.address, location.is_return));
}
void Transcript::on_frames(LocationId id, std::span<const Frame> frames) {
    std::string line = fmt::format("frames {}", id.value);
    for (const Frame& frame : frames)
        line +=
            fmt::format(" [{} {} {} {}]", frame.function, frame.file, frame.line, frame.inlined);
    define(line);
}
void Transcript::on_stack(StackId id, std::span<const LocationId> stack) {
    std::string line = fmt::format("stack {}", id.value);
    for (const LocationId location : stack)
        line += fmt::format(" {}", location.value);
    define(line);
    std::string& told = stacks_[id.value] = "stack";
    for (const LocationId location : stack)
        told += " (" + known(locations_, location.index()) + ")";
}
void Transcript::on_machine(MachineId id, const MachineInfo& info) {
    define(fmt::format("machine {} {} {}", id.value, info.name, info.boot_ns));
}
void Transcript::on_thread(ThreadId id, const ThreadInfo& info) {
    const ContainerNames& container = info.container;
    define(fmt::format("thread {} {} {} {}{}{}{}{}", id.value, info.pid, info.tid, info.comm,
                       info.cgroup.empty() ? "" : " ", info.cgroup,
                       container.known() ? fmt::format(" in {} {} {}", container.name,
                                                       container.pod, container.pod_namespace)
                                         : "",
                       info.kernel ? " of the kernel" : ""));
    threads_[id.value] = fmt::format("thread {} {} {} {} of {}", info.pid, info.tid, info.comm,
                                     info.cgroup, info.machine.value);
}
void Transcript::on_spec(SpecId id, const SpecInfo& info) {
    define(fmt::format("spec {} {} {} {} {} {}", id.value, info.probe.value, info.function,
                       info.module, info.offset, info.way_out.text()));
}
void Transcript::on_probe(const ProbeInfo& info) {
    std::string line = fmt::format("probe {} {} {} {}", info.id.value, info.text,
                                   text_of(info.slow), info.deleted);
    for (const SpecId spec : info.specs)
        line += fmt::format(" {}", spec.value);
    if (!(info.conditions == CallConditions()))
        line += fmt::format(" only if {} slow if {} show {}", info.conditions.only_if,
                            info.conditions.slow_if, info.conditions.show_default);
    for (const std::string& expression : info.conditions.show)
        line += " " + expression;
    line += info.off ? " off" : "";
    change(line);
}
void Transcript::on_split(const SplitInfo& info) {
    std::string line = fmt::format("split {} {} {} {}", info.active, info.probe.value,
                                   text_of(info.threshold), info.so_far);
    if (!info.branch.empty())
        line += fmt::format(" {} bit {} from {} to {}", info.branch.text(), info.branch_bit,
                            info.branch_since_ns, info.branch_until_ns);
    if (!info.label.empty())
        line += fmt::format(" by {} from {} to {}", info.label, info.label_since_ns,
                            info.label_until_ns);
    change(line);
}
void Transcript::on_only(const OnlyInfo& info) {
    std::string line = "only " + info.text;
    for (const GateTerm& term : info.gate.terms)
        line += fmt::format(" ({} {} {} {} {})", static_cast<int>(term.kind), term.probe.value,
                            text_of(term.older), term.number, term.text);
    line += text_of(info.gate.clauses);
    for (const std::string& text : info.lines)
        line += " at " + text;
    line += text_of(info.line_clauses);
    for (const MarkInfo& mark : info.marks)
        line += fmt::format(" mark {} {} from {} to {}", mark.bit, mark.text, mark.since_ns,
                            mark.until_ns);
    change(line);
}
void Transcript::on_label(LabelId id, const std::string& text) {
    define(fmt::format("label {} {}", id.value, text));
    labels_.push_back(text);
}
void Transcript::on_sample(const SampleEvent& event) {
    std::string line =
        fmt::format("sample {} {} {} {} {} {}", event.time_ns, event.weight_ns, event.thread.value,
                    event.stack.value, static_cast<int>(event.kind), event.cpu);
    std::string resolved = fmt::format("sample {} {} {} {} {} {}", event.time_ns, event.weight_ns,
                                       threads_[event.thread.value], stacks_[event.stack.value],
                                       static_cast<int>(event.kind), event.cpu);
    for (const CallKey& call : event.calls) {
        line += " " + text_of(call);
        resolved += " " + text_of(call);
    }
    happen(line, resolved);
}
void Transcript::on_call_end(const CallEndEvent& event) {
    happen("call_end " + text_of(event), "call_end " + resolved(event));
}
void Transcript::on_slow_call(const SlowCallEvent& event) {
    std::string line =
        fmt::format("slow_call {} {} {} {} {}", text_of(event.end), event.threshold_ns,
                    event.stack.value, event.longest_wait.blocked_ns, event.longest_wait.what);
    std::string rest;
    for (const CallValue& value : event.values)
        rest += fmt::format(" {}={}{}", value.name, value.text, value.readable ? "" : "?");
    for (const CallKey& call : event.enclosing)
        rest += " in " + text_of(call);
    happen(line + rest, fmt::format("slow_call {} {} {} {} {}", resolved(event.end),
                                    event.threshold_ns, stacks_[event.stack.value],
                                    event.longest_wait.blocked_ns, event.longest_wait.what) +
                            rest);
}
void Transcript::on_call_parts(const CallPartsEvent& event) {
    std::string rest = fmt::format(" set {} for {}{}", event.set, event.stands_for,
                                   event.incomplete ? " incomplete" : "");
    for (const CallPart& part : event.parts)
        rest += fmt::format(" {} {} {}", part.spec.value, part.calls, part.self_ns);
    happen("call_parts " + text_of(event.end) + rest, "call_parts " + resolved(event.end) + rest);
}
void Transcript::on_stats(const StatsEvent& event) {
    std::string line =
        fmt::format("stats {} {} {} {} {} {} {} {} {} {}", event.time_ns, event.spec.value,
                    event.entries, event.returns, event.unwound, event.dropped, event.open,
                    event.sum_ns, event.min_ns, event.max_ns);
    for (const StatsEvent::Bucket& bucket : event.buckets)
        line += fmt::format(" {}:{}", bucket.index, bucket.count);
    for (const StatsEvent::MarkCount& count : event.marked)
        line += fmt::format(" mark {} {}+{}", count.bit, count.taken, count.not_taken);
    line += event.filtered ? fmt::format(" filtered {}", event.filtered) : "";
    line += event.nested_ns ? fmt::format(" nested {}", event.nested_ns) : "";
    line += event.is_nested_known ? "" : " nested unknown";
    if (event.span != SpanCounts{}) {
        for (const auto member : SpanCounts::members())
            line += fmt::format(" {}", event.span.*member);
        for (const auto member : AmbiguousCounts::members())
            line += fmt::format(" {}", event.span.ambiguous.*member);
        for (size_t i = 0; i < park_reasons; i++)
            if (event.span.parked_for_ns[i])
                line += fmt::format(" parked {}:{}", i, event.span.parked_for_ns[i]);
    }
    happen(line, line);
}
void Transcript::on_ledger(const LedgerEvent& event) {
    std::string line =
        fmt::format("ledger {} {} {} {} {} {} {}", event.time_ns, event.ticks, event.samples,
                    event.filtered, event.on_cpu_ns, event.rate_hz, event.rate_achieved_hz);
    line += fmt::format(" {} {} {} {}", event.sample_gap_ns, event.waits, event.wait_samples,
                        event.wall);
    line += fmt::format(" {} {} {}", event.gated, event.gated_waits, event.gated_slow_calls);
    if (event.goroutine_switches || event.goroutines != LedgerEvent::Goroutines::unwatched)
        line += fmt::format(" goroutines {} {}", static_cast<int>(event.goroutines),
                            event.goroutine_switches);
    for (const auto& [cause, count] : event.lost)
        line += fmt::format(" {}={}", cause, count);
    const Overhead& overhead = event.overhead;
    if (event.waits_hz || !(overhead == Overhead()))
        line += fmt::format(" waits at {} overhead {} {} {} {} {} {} {} {}", event.waits_hz,
                            overhead.begin_ns, overhead.end_ns, overhead.target_ns, overhead.waits,
                            overhead.wait_samples, overhead.lost_wait_samples,
                            overhead.lost_samples, overhead.waited_ns);
    for (const Overhead::Cause& cause : overhead.causes)
        line += fmt::format(" cause {} {} {} {}", static_cast<int>(cause.kind), cause.probe.value,
                            cause.events, cause.cost_ns);
    happen(line, line);
}
void Transcript::on_notice(uint64_t time_ns, const std::string& text) {
    happen(fmt::format("notice {} {}", time_ns, text), fmt::format("notice {} {}", time_ns, text));
}
void Transcript::on_time(uint64_t time_ns) {
    happen(fmt::format("time {}", time_ns), fmt::format("time {}", time_ns));
}

} // namespace auger
