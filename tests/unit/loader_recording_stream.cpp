// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/loader_recording_stream.h"

#include "bpf/wire.h"

#include <algorithm>

namespace auger {

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
                                          static_cast<uint32_t>(wide()),
                                          text(15),
                                          text(30),
                                          MachineId{},
                                          {text(10), text(20), text(5)},
                                          number(2) == 0});
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
            stats.nested_ns = wide();
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
                ledger.overhead.causes.push_back({static_cast<Overhead::Cause::Kind>(number(5)),
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
