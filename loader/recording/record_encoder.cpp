// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/record_encoder.h"

#include "loader/recording/format.h"

#include <algorithm>

namespace auger {
namespace {

using recording::RecordKind;

template <typename T>
std::span<const T> at_most(std::span<const T> list, size_t limit) {
    return list.first(std::min(list.size(), limit));
}

} // namespace

void RecordEncoder::clear() {
    bytes_.clear();
    last_time_ = 0;
}

void RecordEncoder::put_kind(RecordKind kind) {
    out_.varint(static_cast<uint64_t>(kind));
}

void RecordEncoder::put_timed(RecordKind kind, uint64_t time_ns) {
    put_kind(kind);
    out_.zigzag(static_cast<int64_t>(time_ns - last_time_));
    last_time_ = time_ns;
}

void RecordEncoder::put_string(std::string_view text) {
    out_.string(text.substr(0, recording::max_string));
}

void RecordEncoder::put_threshold(const Threshold& threshold) {
    out_.varint(static_cast<uint64_t>(threshold.kind));
    if (threshold.kind == Threshold::Kind::fixed)
        out_.varint(threshold.fixed_ns);
    else if (threshold.kind == Threshold::Kind::percentile)
        out_.real(threshold.percentile);
}

void RecordEncoder::put_call(const CallKey& call, uint64_t time_ns) {
    // A call began before what happened in it: the difference is small and not negative.
    out_.zigzag(static_cast<int64_t>(time_ns - call.start_ns));
    out_.varint(call.sequence);
    out_.varint(call.spec.value);
}

void RecordEncoder::put_call_end(const CallEndEvent& event) {
    out_.varint(event.duration_ns);
    out_.varint(event.thread.value);
    put_call(event.call, event.time_ns);
    out_.varint(event.samples);
    const bool waited = event.parked_ns || event.queued_ns;
    out_.varint(uint64_t{event.unwound} | uint64_t{event.filtered} << 1 | uint64_t{waited} << 2 |
                uint64_t{!event.marks_known} << 3);
    if (waited) {
        out_.varint(event.parked_ns);
        out_.varint(event.queued_ns);
    }
    out_.varint(event.waits.has_value());
    if (event.waits) {
        out_.varint(event.waits->blocked_ns);
        out_.varint(event.waits->runnable_ns);
    }
    out_.varint(event.marks);
    out_.varint(event.label ? uint64_t{event.label->value} + 1 : 0);
}

void RecordEncoder::put_conditions(const CallConditions& conditions) {
    put_string(conditions.only_if);
    put_string(conditions.slow_if);
    out_.varint(conditions.show_default);
    const auto show =
        at_most(std::span<const std::string>(conditions.show), recording::max_expressions);
    out_.varint(show.size());
    for (const std::string& expression : show)
        put_string(expression);
}

void RecordEncoder::put_clauses(std::span<const Clause> clauses) {
    clauses = at_most(clauses, recording::max_terms);
    out_.varint(clauses.size());
    for (const Clause& clause : clauses) {
        for (const auto* terms : {&clause.all, &clause.none}) {
            const auto list = at_most(std::span<const uint32_t>(*terms), recording::max_terms);
            out_.varint(list.size());
            for (const uint32_t term : list)
                out_.varint(term);
        }
    }
}

void RecordEncoder::put_series(const SeriesInfo& series) {
    put_kind(RecordKind::series);
    out_.fixed64(series.session);
    out_.varint(series.number);
}

void RecordEncoder::put_end(uint64_t events) {
    put_kind(RecordKind::end);
    out_.varint(events);
}

// A recording is of one machine, so its id is not written.
void RecordEncoder::on_machine(MachineId, const MachineInfo& info) {
    put_kind(RecordKind::machine);
    put_string(info.name);
    out_.varint(info.boot_ns);
}

void RecordEncoder::on_module(ModuleId id, const ModuleInfo& info) {
    put_kind(RecordKind::module);
    out_.varint(id.value);
    out_.varint(static_cast<uint64_t>(info.kind));
    put_string(info.path);
    put_string(info.build_id);
}

void RecordEncoder::on_location(LocationId id, const Location& location) {
    put_kind(RecordKind::location);
    out_.varint(id.value);
    out_.varint(location.module.value);
    out_.varint(location.address);
    out_.varint(location.is_return);
}

void RecordEncoder::on_frames(LocationId id, std::span<const Frame> frames) {
    put_kind(RecordKind::frames);
    out_.varint(id.value);
    frames = at_most(frames, recording::max_frames);
    out_.varint(frames.size());
    for (const Frame& frame : frames) {
        put_string(frame.function);
        put_string(frame.file);
        out_.varint(frame.line);
        out_.varint(frame.inlined);
    }
}

void RecordEncoder::on_stack(StackId id, std::span<const LocationId> stack) {
    put_kind(RecordKind::stack);
    out_.varint(id.value);
    stack = at_most(stack, recording::max_stack);
    out_.varint(stack.size());
    for (const LocationId location : stack)
        out_.varint(location.value);
}

void RecordEncoder::on_thread(ThreadId id, const ThreadInfo& info) {
    put_kind(RecordKind::thread);
    out_.varint(id.value);
    out_.varint(info.pid);
    out_.varint(info.tid);
    put_string(info.comm);
    put_string(info.cgroup);
    put_string(info.container.name);
    put_string(info.container.pod);
    put_string(info.container.pod_namespace);
    out_.varint(info.kernel);
}

void RecordEncoder::on_spec(SpecId id, const SpecInfo& info) {
    put_kind(RecordKind::spec);
    out_.varint(id.value);
    out_.varint(info.probe.value);
    put_string(info.function);
    put_string(info.module);
    out_.varint(info.offset);
    put_string(info.way_out.text());
}

void RecordEncoder::on_probe(const ProbeInfo& info) {
    put_kind(RecordKind::probe);
    out_.varint(info.id.value);
    put_string(info.text);
    const auto specs = at_most(std::span<const SpecId>(info.specs), recording::max_probe_specs);
    out_.varint(specs.size());
    for (const SpecId spec : specs)
        out_.varint(spec.value);
    put_threshold(info.slow);
    out_.varint(info.deleted);
    put_conditions(info.conditions);
    out_.varint(info.off);
    put_string(info.span);
}

void RecordEncoder::on_split(const SplitInfo& info) {
    put_kind(RecordKind::split);
    out_.varint(info.active);
    out_.varint(info.probe.value);
    put_threshold(info.threshold);
    out_.varint(info.so_far);
    put_string(info.branch.text());
    put_string(info.label);
    out_.varint(info.branch_bit);
    for (const uint64_t time_ns :
         {info.branch_since_ns, info.branch_until_ns, info.label_since_ns, info.label_until_ns})
        out_.varint(time_ns);
}

void RecordEncoder::on_only(const OnlyInfo& info) {
    put_kind(RecordKind::only);
    put_string(info.text);
    const auto terms = at_most(std::span<const GateTerm>(info.gate.terms), recording::max_terms);
    out_.varint(terms.size());
    for (const GateTerm& term : terms) {
        out_.varint(static_cast<uint64_t>(term.kind));
        out_.varint(term.probe.value);
        put_threshold(term.older);
        out_.varint(term.number);
        put_string(term.text);
    }
    put_clauses(info.gate.clauses);
    const auto lines = at_most(std::span<const std::string>(info.lines), recording::max_terms);
    out_.varint(lines.size());
    for (const std::string& line : lines)
        put_string(line);
    put_clauses(info.line_clauses);
    const auto marks = at_most(std::span<const MarkInfo>(info.marks), recording::max_terms);
    out_.varint(marks.size());
    for (const MarkInfo& mark : marks) {
        out_.varint(mark.bit);
        put_string(mark.text);
        out_.varint(mark.since_ns);
        out_.varint(mark.until_ns);
    }
}

void RecordEncoder::on_label(LabelId id, const std::string& text) {
    put_kind(RecordKind::label);
    out_.varint(id.value);
    put_string(text);
}

void RecordEncoder::on_sample(const SampleEvent& event) {
    put_timed(RecordKind::sample, event.time_ns);
    out_.varint(event.weight_ns);
    out_.varint(event.thread.value);
    out_.varint(event.stack.value);
    out_.varint(static_cast<uint64_t>(event.kind));
    out_.varint(event.cpu);
    const auto calls = at_most(event.calls, recording::max_calls);
    out_.varint(calls.size());
    for (const CallKey& call : calls)
        put_call(call, event.time_ns);
}

void RecordEncoder::on_call_end(const CallEndEvent& event) {
    put_timed(RecordKind::call_end, event.time_ns);
    put_call_end(event);
}

void RecordEncoder::on_slow_call(const SlowCallEvent& event) {
    put_timed(RecordKind::slow_call, event.end.time_ns);
    put_call_end(event.end);
    out_.varint(event.threshold_ns);
    out_.varint(event.stack.value);
    out_.varint(event.longest_wait.blocked_ns);
    put_string(event.longest_wait.what);
    const auto values =
        at_most(std::span<const CallValue>(event.values), recording::max_expressions);
    out_.varint(values.size());
    for (const CallValue& value : values) {
        put_string(value.name);
        put_string(value.text);
        out_.varint(value.readable);
    }
    const auto enclosing = at_most(event.enclosing, recording::max_calls);
    out_.varint(enclosing.size());
    for (const CallKey& call : enclosing)
        put_call(call, event.end.time_ns);
}

void RecordEncoder::on_call_parts(const CallPartsEvent& event) {
    put_timed(RecordKind::call_parts, event.end.time_ns);
    put_call_end(event.end);
    out_.varint(event.set);
    out_.varint(event.stands_for);
    out_.varint(event.incomplete);
    const auto parts = at_most(event.parts, most_parts);
    out_.varint(parts.size());
    for (const CallPart& part : parts) {
        out_.varint(part.spec.value);
        out_.varint(part.calls);
        out_.zigzag(part.self_ns);
    }
}

void RecordEncoder::on_stats(const StatsEvent& event) {
    put_timed(RecordKind::stats, event.time_ns);
    out_.varint(event.spec.value);
    out_.varint(event.entries);
    out_.varint(event.returns);
    out_.varint(event.unwound);
    out_.varint(event.dropped);
    out_.zigzag(event.open);
    out_.varint(event.sum_ns);
    out_.varint(event.min_ns);
    out_.varint(event.max_ns);
    out_.varint(event.buckets.size());
    uint32_t next = 0; // lowest index that the next bucket can have
    for (const StatsEvent::Bucket& bucket : event.buckets) {
        out_.varint(bucket.index - next);
        out_.varint(bucket.count);
        next = bucket.index + 1;
    }
    const auto marked = at_most(std::span<const StatsEvent::MarkCount>(event.marked), most_marks);
    out_.varint(marked.size());
    for (const StatsEvent::MarkCount& count : marked) {
        out_.varint(count.bit);
        out_.varint(count.taken);
        out_.varint(count.not_taken);
    }
    out_.varint(event.filtered);
    out_.varint(event.nested_ns);
    const bool of_span = event.span != SpanCounts{};
    out_.varint(of_span);
    if (!of_span)
        return;
    for (const auto member : SpanCounts::members())
        out_.varint(event.span.*member);
    for (const auto member : AmbiguousCounts::members())
        out_.varint(event.span.ambiguous.*member);
    const auto& parked_for = event.span.parked_for_ns;
    out_.varint(park_reasons - static_cast<size_t>(std::ranges::count(parked_for, 0u)));
    for (size_t i = 0; i < park_reasons; i++) {
        if (!parked_for[i])
            continue;
        out_.varint(i);
        out_.varint(parked_for[i]);
    }
}

void RecordEncoder::put_overhead(const LedgerEvent& event) {
    const Overhead& overhead = event.overhead;
    out_.varint(event.waits_hz);
    for (const uint64_t field : {overhead.begin_ns, overhead.end_ns, overhead.target_ns,
                                 overhead.waits, overhead.wait_samples, overhead.lost_wait_samples,
                                 overhead.lost_samples, overhead.waited_ns})
        out_.varint(field);
    const size_t causes = std::min(overhead.causes.size(), recording::max_overhead_causes);
    out_.varint(causes);
    for (size_t i = 0; i < causes; ++i) {
        const Overhead::Cause& cause = overhead.causes[i];
        out_.varint(static_cast<uint64_t>(cause.kind));
        out_.varint(cause.probe.value);
        out_.varint(cause.events);
        out_.varint(cause.cost_ns);
    }
}

void RecordEncoder::on_ledger(const LedgerEvent& event) {
    put_timed(RecordKind::ledger, event.time_ns);
    out_.varint(event.ticks);
    out_.varint(event.samples);
    out_.varint(event.filtered);
    out_.varint(event.on_cpu_ns);
    out_.varint(event.rate_hz);
    out_.real(event.rate_achieved_hz);
    out_.varint(event.sample_gap_ns);
    out_.varint(event.waits);
    out_.varint(event.wait_samples);
    out_.varint(event.wall);
    out_.varint(event.gated);
    out_.varint(event.gated_waits);
    out_.varint(event.gated_slow_calls);
    put_overhead(event);
    out_.varint(static_cast<uint64_t>(event.goroutines));
    out_.varint(event.goroutine_switches);
    const size_t causes = std::min(event.lost.size(), recording::max_causes);
    out_.varint(causes);
    auto lost = event.lost.begin();
    for (size_t i = 0; i < causes; ++i, ++lost) {
        put_string(lost->first);
        out_.varint(lost->second);
    }
}

void RecordEncoder::on_notice(uint64_t time_ns, const std::string& text) {
    put_timed(RecordKind::notice, time_ns);
    put_string(text);
}

void RecordEncoder::on_time(uint64_t time_ns) {
    put_timed(RecordKind::time, time_ns);
}

} // namespace auger
