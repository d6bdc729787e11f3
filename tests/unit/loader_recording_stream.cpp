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

} // namespace

void Transcript::on_module(ModuleId id, const ModuleInfo& info) {
    lines.push_back(fmt::format("module {} {} {} {}", id.value, static_cast<int>(info.kind),
                                info.path, info.build_id));
}
void Transcript::on_location(LocationId id, const Location& location) {
    lines.push_back(fmt::format("location {} {} {} {}", id.value, location.module.value,
                                location.address, location.is_return));
}
void Transcript::on_frames(LocationId id, std::span<const Frame> frames) {
    std::string line = fmt::format("frames {}", id.value);
    for (const Frame& frame : frames)
        line +=
            fmt::format(" [{} {} {} {}]", frame.function, frame.file, frame.line, frame.inlined);
    lines.push_back(line);
}
void Transcript::on_stack(StackId id, std::span<const LocationId> stack) {
    std::string line = fmt::format("stack {}", id.value);
    for (const LocationId location : stack)
        line += fmt::format(" {}", location.value);
    lines.push_back(line);
}
void Transcript::on_machine(MachineId id, const MachineInfo& info) {
    lines.push_back(fmt::format("machine {} {} {}", id.value, info.name, info.boot_ns));
}
void Transcript::on_thread(ThreadId id, const ThreadInfo& info) {
    lines.push_back(fmt::format("thread {} {} {} {}{}{}", id.value, info.pid, info.tid, info.comm,
                                info.cgroup.empty() ? "" : " ", info.cgroup));
}
void Transcript::on_spec(SpecId id, const SpecInfo& info) {
    lines.push_back(fmt::format("spec {} {} {} {} {} {}", id.value, info.probe.value, info.function,
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
    lines.push_back(line);
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
    lines.push_back(line);
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
    lines.push_back(line);
}
void Transcript::on_label(LabelId id, const std::string& text) {
    lines.push_back(fmt::format("label {} {}", id.value, text));
}
void Transcript::on_sample(const SampleEvent& event) {
    std::string line =
        fmt::format("sample {} {} {} {} {} {}", event.time_ns, event.weight_ns, event.thread.value,
                    event.stack.value, static_cast<int>(event.kind), event.cpu);
    for (const CallKey& call : event.calls)
        line += " " + text_of(call);
    lines.push_back(line);
}
void Transcript::on_call_end(const CallEndEvent& event) {
    lines.push_back("call_end " + text_of(event));
}
void Transcript::on_slow_call(const SlowCallEvent& event) {
    std::string line =
        fmt::format("slow_call {} {} {} {} {}", text_of(event.end), event.threshold_ns,
                    event.stack.value, event.longest_wait.blocked_ns, event.longest_wait.what);
    for (const CallValue& value : event.values)
        line += fmt::format(" {}={}{}", value.name, value.text, value.readable ? "" : "?");
    for (const CallKey& call : event.enclosing)
        line += " in " + text_of(call);
    lines.push_back(line);
}
void Transcript::on_call_parts(const CallPartsEvent& event) {
    std::string line = fmt::format("call_parts {} set {} for {}{}", text_of(event.end), event.set,
                                   event.stands_for, event.incomplete ? " incomplete" : "");
    for (const CallPart& part : event.parts)
        line += fmt::format(" {} {} {}", part.spec.value, part.calls, part.self_ns);
    lines.push_back(line);
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
    if (event.span != SpanCounts{}) {
        for (const auto member : SpanCounts::members())
            line += fmt::format(" {}", event.span.*member);
        for (const auto member : AmbiguousCounts::members())
            line += fmt::format(" {}", event.span.ambiguous.*member);
        for (size_t i = 0; i < park_reasons; i++)
            if (event.span.parked_for_ns[i])
                line += fmt::format(" parked {}:{}", i, event.span.parked_for_ns[i]);
    }
    lines.push_back(line);
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
    lines.push_back(line);
}
void Transcript::on_notice(uint64_t time_ns, const std::string& text) {
    lines.push_back(fmt::format("notice {} {}", time_ns, text));
}
void Transcript::on_time(uint64_t time_ns) {
    lines.push_back(fmt::format("time {}", time_ns));
}

uint64_t StreamGenerator::wide() {
    return random_() >> number(64);
}

std::string StreamGenerator::text(size_t longest) {
    std::string text(number(longest + 1), '\0');
    for (char& c : text)
        c = static_cast<char>(number(256)); // names come from hostile programs
    return text;
}

Threshold StreamGenerator::threshold() {
    Threshold threshold;
    threshold.kind = static_cast<Threshold::Kind>(number(3));
    if (threshold.kind == Threshold::Kind::fixed)
        threshold.fixed_ns = wide();
    if (threshold.kind == Threshold::Kind::percentile)
        threshold.percentile = 0.001 * static_cast<double>(1 + number(99'998));
    return threshold;
}

CallKey StreamGenerator::call() {
    // Mostly in the past; an observed machine can also be wrong.
    return {time_ - (number(10) ? number(1 << 20) : wide()), static_cast<uint32_t>(wide()),
            SpecId{static_cast<uint32_t>(number(specs_))}};
}

CallEndEvent StreamGenerator::call_end() {
    CallEndEvent end;
    end.time_ns = time_;
    end.duration_ns = wide();
    end.thread = ThreadId{static_cast<uint32_t>(number(threads_))};
    end.call = call();
    end.samples = static_cast<uint32_t>(wide());
    end.unwound = number(2);
    end.filtered = number(2);
    if (number(2))
        end.parked_ns = wide();
    if (number(2))
        end.queued_ns = wide();
    if (number(2))
        end.waits = CallWaits{wide(), wide()};
    end.marks = static_cast<uint32_t>(wide());
    if (number(2))
        end.label = LabelId{static_cast<uint32_t>(number(labels_))};
    return end;
}

CallConditions StreamGenerator::conditions() {
    CallConditions conditions;
    conditions.only_if = text(20);
    conditions.slow_if = text(20);
    conditions.show_default = number(2);
    for (size_t i = number(3); i-- > 0;)
        conditions.show.push_back(text(10));
    return conditions;
}

std::vector<Clause> StreamGenerator::clauses(uint64_t terms) {
    std::vector<Clause> clauses(number(4));
    for (Clause& clause : clauses)
        for (size_t i = number(terms + 1); i-- > 0;)
            (number(2) ? clause.all : clause.none).push_back(static_cast<uint32_t>(number(terms)));
    return clauses;
}

OnlyInfo StreamGenerator::only() {
    OnlyInfo only;
    only.text = text(30);
    only.gate.terms.resize(number(4));
    for (GateTerm& term : only.gate.terms)
        term = {static_cast<GateTerm::Kind>(number(5)),
                ProbeId{static_cast<uint32_t>(number(probes_))}, threshold(), wide(), text(15)};
    only.gate.clauses = clauses(only.gate.terms.size());
    for (size_t i = number(3); i-- > 0;) {
        only.lines.push_back(text(20));
        only.marks.push_back({static_cast<uint32_t>(number(32)), text(20), wide(), wide()});
    }
    only.line_clauses = clauses(only.lines.size());
    return only;
}

SlowCallEvent StreamGenerator::slow_call() {
    SlowCallEvent slow;
    slow.end = call_end();
    slow.threshold_ns = wide();
    slow.stack = StackId{static_cast<uint32_t>(number(stacks_))};
    slow.longest_wait.blocked_ns = wide();
    slow.longest_wait.what = text(60);
    for (size_t i = number(4); i-- > 0;)
        slow.values.push_back({text(10), text(60), number(2) == 0});
    return slow;
}

ProbeInfo StreamGenerator::probe(uint32_t id) {
    ProbeInfo info;
    info.id = ProbeId{id};
    info.text = text(20);
    for (size_t i = number(4); i-- > 0;)
        info.specs.push_back(SpecId{static_cast<uint32_t>(number(specs_))});
    info.slow = threshold();
    info.deleted = number(2);
    info.conditions = conditions();
    info.off = number(2);
    info.span = number(2) ? text(40) : "";
    return info;
}

void StreamGenerator::define_one(EventSink& sink) {
    sink.on_module(ModuleId{modules_++}, {static_cast<ModuleKind>(number(6)), text(40), text(20)});
    sink.on_location(LocationId{locations_++},
                     {ModuleId{static_cast<uint32_t>(number(modules_))}, wide(), number(2) == 0});
    std::vector<Frame> frames(number(4));
    for (Frame& frame : frames)
        frame = {text(60), text(30), static_cast<uint32_t>(wide()), number(2) == 0};
    sink.on_frames(LocationId{static_cast<uint32_t>(number(locations_))}, frames);
    std::vector<LocationId> stack(number(40));
    for (LocationId& location : stack)
        location = LocationId{static_cast<uint32_t>(number(locations_))};
    sink.on_stack(StackId{stacks_++}, stack);
    sink.on_thread(ThreadId{threads_++}, {static_cast<uint32_t>(wide()),
                                          static_cast<uint32_t>(wide()), text(15), text(30)});
    sink.on_spec(SpecId{specs_++}, {ProbeId{static_cast<uint32_t>(number(50))}, text(30), text(30),
                                    wide(), ObservedExit::parse(text(10))});
    sink.on_probe(probe(probes_++));
    SplitInfo split{number(2) == 0, ProbeId{static_cast<uint32_t>(number(probes_))}, threshold(),
                    number(2) == 0};
    split.branch = Branch::at_line(text(20));
    split.label = text(10);
    split.branch_bit = static_cast<uint32_t>(number(32));
    split.branch_since_ns = wide();
    split.label_until_ns = wide();
    sink.on_split(split);
    sink.on_only(only());
    sink.on_label(LabelId{labels_++}, text(40));
}

void StreamGenerator::definitions(EventSink& sink) {
    for (int i = 0; i < 5; ++i)
        define_one(sink);
}

void StreamGenerator::events(EventSink& sink, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        time_ += number(gap_ns_);
        switch (number(12)) {
        case 0:
            define_one(sink);
            sink.on_time(time_);
            break;
        case 1:
            sink.on_call_end(call_end());
            break;
        case 2: {
            std::vector<CallKey> enclosing(number(3));
            for (CallKey& key : enclosing)
                key = call();
            SlowCallEvent slow = slow_call();
            slow.enclosing = enclosing;
            sink.on_slow_call(slow);
            break;
        }
        case 3: {
            StatsEvent stats{time_,
                             SpecId{static_cast<uint32_t>(number(specs_))},
                             wide(),
                             wide(),
                             wide(),
                             wide(),
                             static_cast<int64_t>(wide()),
                             wide(),
                             wide(),
                             wide(),
                             {}};
            for (uint32_t bucket = 0; bucket < WIRE_HIST_BUCKETS; ++bucket)
                if (number(200) == 0 || bucket == 0 || bucket == WIRE_HIST_BUCKETS - 1)
                    stats.buckets.push_back({bucket, wide() | 1});
            for (uint32_t bit = 0; bit < WIRE_MAX_MARKS; ++bit)
                if (number(8) == 0)
                    stats.marked.push_back({bit, wide(), wide()});
            stats.filtered = wide();
            if (number(2)) {
                for (const auto member : SpanCounts::members())
                    stats.span.*member = wide();
                for (const auto member : AmbiguousCounts::members())
                    stats.span.ambiguous.*member = wide();
                for (uint64_t& parked : stats.span.parked_for_ns)
                    parked = number(2) ? wide() : 0;
            }
            sink.on_stats(stats);
            break;
        }
        case 4: {
            LedgerEvent ledger;
            ledger.time_ns = time_;
            for (uint64_t* field :
                 {&ledger.ticks, &ledger.samples, &ledger.filtered, &ledger.on_cpu_ns,
                  &ledger.rate_hz, &ledger.sample_gap_ns, &ledger.waits, &ledger.wait_samples,
                  &ledger.gated, &ledger.gated_waits, &ledger.gated_slow_calls})
                *field = wide();
            ledger.rate_achieved_hz = 98.7;
            ledger.wall = number(2);
            ledger.goroutines = static_cast<LedgerEvent::Goroutines>(number(3));
            ledger.goroutine_switches = wide();
            for (size_t cause = number(5); cause-- > 0;)
                ledger.lost[text(20)] = wide();
            for (uint64_t* field :
                 {&ledger.waits_hz, &ledger.overhead.begin_ns, &ledger.overhead.target_ns,
                  &ledger.overhead.waits, &ledger.overhead.wait_samples,
                  &ledger.overhead.lost_wait_samples, &ledger.overhead.lost_samples,
                  &ledger.overhead.waited_ns})
                *field = wide();
            ledger.overhead.end_ns = std::max(wide(), ledger.overhead.begin_ns);
            for (size_t cause = number(5); cause-- > 0;)
                ledger.overhead.causes.push_back({static_cast<Overhead::Cause::Kind>(number(4)),
                                                  ProbeId{static_cast<uint32_t>(number(9))}, wide(),
                                                  wide()});
            sink.on_ledger(ledger);
            break;
        }
        case 5:
            sink.on_notice(time_, text(60));
            break;
        case 6: {
            std::vector<CallPart> parts(number(most_parts + 1));
            for (CallPart& part : parts)
                part = {SpecId{static_cast<uint32_t>(number(specs_))},
                        static_cast<uint32_t>(wide()), static_cast<int64_t>(wide())};
            CallPartsEvent event;
            event.end = call_end();
            event.set = static_cast<uint32_t>(number(3));
            event.stands_for = static_cast<uint32_t>(wide()) | 1;
            event.incomplete = number(4) == 0;
            event.parts = parts;
            sink.on_call_parts(event);
            break;
        }
        default: {
            std::vector<CallKey> calls(number(5));
            for (CallKey& key : calls)
                key = call();
            // Times of several CPUs are not quite in order.
            SampleEvent sample{time_ - number(1000),
                               wide(),
                               ThreadId{static_cast<uint32_t>(number(threads_))},
                               StackId{static_cast<uint32_t>(number(stacks_))},
                               static_cast<SampleKind>(number(3)),
                               static_cast<uint32_t>(number(256)),
                               calls};
            sink.on_sample(sample);
        }
        }
    }
}

} // namespace auger
