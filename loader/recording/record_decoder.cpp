// SPDX-License-Identifier: GPL-3.0-or-later
// Every record is decoded and checked whole before the sink hears of it.
#include "loader/recording/record_decoder.h"

#include "loader/recording/format.h"
#include "loader/stats/histogram.h"

#include <algorithm>

namespace auger {

using recording::RecordKind;

RecordDecoder RecordDecoder::of_own_records() {
    RecordDecoder decoder;
    decoder.own_ = true;
    decoder.modules_ = decoder.locations_ = decoder.stacks_ = decoder.threads_ = decoder.specs_ =
        decoder.labels_ = recording::max_ids;
    return decoder;
}

void RecordDecoder::start_block(std::string_view block) {
    in_ = ByteReader(block);
    last_time_ = 0;
    block_span_ = {};
}

RecordDecoder::Step RecordDecoder::step(EventSink& sink, uint64_t until_ns) {
    if (in_.at_end())
        return Step::block_end;
    const ByteReader before = in_;
    const uint64_t last_time = last_time_;
    const uint64_t kind = in_.varint();
    if (kind == static_cast<uint64_t>(RecordKind::end)) {
        const uint64_t events = in_.varint();
        if (!in_.failed() && in_.at_end() && (events == span_.events || passed_over_))
            return Step::end;
        problem_ = "the end mark does not match what precedes it";
        return Step::damaged;
    }
    if (kind < static_cast<uint64_t>(recording::first_timed_kind)) {
        definition(kind, sink);
    } else {
        const uint64_t time_ns = time();
        if (!in_.failed() && time_ns > until_ns) {
            in_ = before;
            last_time_ = last_time;
            next_ns_ = time_ns;
            return Step::later;
        }
        event(kind, time_ns, sink);
    }
    if (!in_.failed())
        return Step::delivered;
    problem_ = "record of kind " + std::to_string(kind) + " at byte " +
               std::to_string(before.position()) + " of the block is not valid";
    return Step::damaged;
}

void RecordDecoder::definition(uint64_t kind, EventSink& sink) {
    switch (static_cast<RecordKind>(kind)) {
    case RecordKind::machine:
        return has_machine() ? machine(sink) : (void)in_.fail();
    case RecordKind::series:
        return has_series() ? define_series() : (void)in_.fail();
    case RecordKind::module:
        return module(sink);
    case RecordKind::location:
        return location(sink);
    case RecordKind::frames:
        return frames(sink);
    case RecordKind::stack:
        return stack(sink);
    case RecordKind::thread:
        return thread(sink);
    case RecordKind::spec:
        return spec(sink);
    case RecordKind::probe:
        return probe(sink);
    case RecordKind::split:
        return split(sink);
    case RecordKind::only:
        return has_marks() ? only(sink) : (void)in_.fail();
    case RecordKind::label:
        return has_marks() ? label(sink) : (void)in_.fail();
    default:
        in_.fail();
    }
}

void RecordDecoder::event(uint64_t kind, uint64_t time_ns, EventSink& sink) {
    if (kind > static_cast<uint64_t>(RecordKind::call_parts)) {
        in_.fail();
        return;
    }
    switch (static_cast<RecordKind>(kind)) {
    case RecordKind::sample:
        sample(time_ns, sink);
        break;
    case RecordKind::call_end: {
        const CallEndEvent event = call_end(time_ns);
        if (!in_.failed())
            sink.on_call_end(event);
        break;
    }
    case RecordKind::slow_call:
        slow_call(time_ns, sink);
        break;
    case RecordKind::call_parts:
        call_parts(time_ns, sink);
        break;
    case RecordKind::stats:
        stats(time_ns, sink);
        break;
    case RecordKind::ledger:
        ledger(time_ns, sink);
        break;
    case RecordKind::notice: {
        const std::string text(this->text());
        if (!in_.failed())
            sink.on_notice(time_ns, text);
        break;
    }
    default:
        if (time_ns < clock_)
            in_.fail();
        if (in_.failed())
            return;
        clock_ = time_ns;
        seen(time_ns);
        sink.on_time(time_ns);
        return;
    }
    if (in_.failed())
        return;
    seen(time_ns);
    ++span_.events;
}

void RecordDecoder::seen(uint64_t time_ns) {
    for (StreamSpan* span : {&span_, &block_span_}) {
        span->first_ns = span->timed ? std::min(span->first_ns, time_ns) : time_ns;
        span->last_ns = std::max(span->last_ns, time_ns);
        span->timed = true;
    }
}

uint64_t RecordDecoder::time() {
    last_time_ += static_cast<uint64_t>(in_.zigzag());
    if (last_time_ > recording::max_time_ns)
        in_.fail();
    return last_time_;
}

std::string_view RecordDecoder::text() {
    return in_.string(recording::max_string);
}

Threshold RecordDecoder::threshold() {
    Threshold threshold;
    threshold.kind = static_cast<Threshold::Kind>(in_.varint_up_to(2));
    if (threshold.kind == Threshold::Kind::fixed)
        threshold.fixed_ns = in_.varint();
    if (threshold.kind == Threshold::Kind::percentile) {
        threshold.percentile = in_.real();
        if (!(threshold.percentile > 0 && threshold.percentile < 100))
            in_.fail();
    }
    return threshold;
}

CallKey RecordDecoder::call(uint64_t time_ns) {
    CallKey call;
    call.start_ns = time_ns - static_cast<uint64_t>(in_.zigzag());
    call.sequence = in_.varint32();
    call.spec = defined<SpecId>(specs_);
    return call;
}

CallEndEvent RecordDecoder::call_end(uint64_t time_ns) {
    CallEndEvent event;
    event.time_ns = time_ns;
    event.duration_ns = in_.varint();
    event.thread = defined<ThreadId>(threads_);
    event.call = call(time_ns);
    event.samples = in_.varint32();
    // Before format 5 there were no filtered ones, before 6 none of spans. That marks are not known
    // is said by relays only, one of whose hosts may have watched them for longer than another.
    const uint64_t how = in_.varint_up_to(has_spans() ? 15 : 3);
    event.unwound = how & 1;
    event.filtered = how & 2;
    event.marks_known = !(how & 8);
    event.parked_ns = how & 4 ? in_.varint() : 0;
    event.queued_ns = how & 4 ? in_.varint() : 0;
    if (in_.boolean()) {
        event.waits.emplace();
        event.waits->blocked_ns = in_.varint();
        event.waits->runnable_ns = in_.varint();
    }
    if (has_marks()) {
        event.marks = in_.varint32();
        if (const uint64_t label = in_.varint_up_to(labels_))
            event.label = LabelId{static_cast<uint32_t>(label - 1)};
    }
    return event;
}

void RecordDecoder::sample(uint64_t time_ns, EventSink& sink) {
    SampleEvent event;
    event.time_ns = time_ns;
    event.weight_ns = in_.varint();
    event.thread = defined<ThreadId>(threads_);
    event.stack = defined<StackId>(stacks_);
    event.kind =
        static_cast<SampleKind>(in_.varint_up_to(static_cast<uint64_t>(SampleKind::runnable)));
    event.cpu = in_.varint32();
    call_buffer_.resize(in_.count(recording::max_calls));
    for (CallKey& key : call_buffer_)
        key = call(time_ns);
    event.calls = call_buffer_;
    if (!in_.failed())
        sink.on_sample(event);
}

void RecordDecoder::slow_call(uint64_t time_ns, EventSink& sink) {
    SlowCallEvent event;
    event.end = call_end(time_ns);
    event.threshold_ns = in_.varint();
    event.stack = defined<StackId>(stacks_);
    event.longest_wait.blocked_ns = in_.varint();
    event.longest_wait.what = text();
    if (has_marks()) {
        event.values.resize(in_.count(recording::max_expressions));
        for (CallValue& value : event.values) {
            value.name = text();
            value.text = text();
            value.readable = in_.boolean();
        }
        call_buffer_.resize(in_.count(recording::max_calls));
        for (CallKey& key : call_buffer_)
            key = call(time_ns);
        event.enclosing = call_buffer_;
    }
    if (!in_.failed())
        sink.on_slow_call(event);
}

void RecordDecoder::call_parts(uint64_t time_ns, EventSink& sink) {
    CallPartsEvent event;
    event.end = call_end(time_ns);
    event.set = in_.varint32();
    event.stands_for = in_.varint32();
    event.incomplete = in_.boolean();
    if (event.stands_for == 0)
        in_.fail();
    part_buffer_.resize(in_.count(most_parts));
    for (CallPart& part : part_buffer_) {
        part.spec = defined<SpecId>(specs_);
        part.calls = in_.varint32();
        part.self_ns = in_.zigzag();
    }
    event.parts = part_buffer_;
    if (!in_.failed())
        sink.on_call_parts(event);
}

void RecordDecoder::stats(uint64_t time_ns, EventSink& sink) {
    StatsEvent& event = stats_buffer_;
    event.time_ns = time_ns;
    event.spec = defined<SpecId>(specs_);
    event.entries = in_.varint();
    event.returns = in_.varint();
    event.unwound = in_.varint();
    event.dropped = in_.varint();
    event.open = in_.zigzag();
    event.sum_ns = in_.varint();
    event.min_ns = in_.varint();
    event.max_ns = in_.varint();
    event.buckets.resize(in_.count(histogram_buckets));
    uint64_t next = 0;
    for (StatsEvent::Bucket& bucket : event.buckets) {
        const uint64_t index = next + in_.varint_up_to(histogram_buckets);
        bucket.count = in_.varint();
        if (index >= histogram_buckets || bucket.count == 0) {
            in_.fail();
            return;
        }
        bucket.index = static_cast<uint32_t>(index);
        next = index + 1;
    }
    event.marked.clear();
    event.filtered = 0;
    if (has_marks()) {
        event.marked.resize(in_.count(most_marks));
        for (StatsEvent::MarkCount& count : event.marked) {
            count.bit = static_cast<uint32_t>(in_.varint_up_to(most_marks - 1));
            count.taken = in_.varint();
            count.not_taken = in_.varint();
        }
        event.filtered = in_.varint();
    }
    event.is_nested_known = has_nested();
    event.nested_ns = has_nested() ? in_.varint() : 0;
    event.span = {};
    if (has_spans() && in_.boolean()) {
        for (const auto member : SpanCounts::members())
            event.span.*member = in_.varint();
        if (has_exchanges())
            for (const auto member : AmbiguousCounts::members())
                event.span.ambiguous.*member = in_.varint();
        for (size_t i = has_parks() ? in_.count(park_reasons) : 0; i > 0 && !in_.failed(); i--) {
            const uint64_t reason = in_.varint_up_to(park_reasons - 1);
            event.span.parked_for_ns[reason] = in_.varint();
        }
    }
    if (!in_.failed())
        sink.on_stats(event);
}

Overhead RecordDecoder::overhead() {
    Overhead overhead;
    for (uint64_t* field : {&overhead.begin_ns, &overhead.end_ns, &overhead.target_ns,
                            &overhead.waits, &overhead.wait_samples, &overhead.lost_wait_samples,
                            &overhead.lost_samples, &overhead.waited_ns})
        *field = in_.varint();
    if (overhead.end_ns < overhead.begin_ns)
        in_.fail();
    overhead.causes.resize(in_.count(recording::max_overhead_causes));
    for (Overhead::Cause& cause : overhead.causes) {
        const uint64_t kind = in_.varint();
        if (kind > static_cast<uint64_t>(Overhead::Cause::Kind::clocks))
            in_.fail();
        cause.kind = static_cast<Overhead::Cause::Kind>(kind);
        cause.probe = ProbeId{in_.varint32()};
        cause.events = in_.varint();
        cause.cost_ns = in_.varint();
    }
    return overhead;
}

void RecordDecoder::ledger(uint64_t time_ns, EventSink& sink) {
    LedgerEvent event;
    event.time_ns = time_ns;
    event.ticks = in_.varint();
    event.samples = in_.varint();
    event.filtered = in_.varint();
    event.on_cpu_ns = in_.varint();
    event.rate_hz = in_.varint();
    event.rate_achieved_hz = in_.real();
    if (!(event.rate_achieved_hz >= 0 && event.rate_achieved_hz <= recording::max_rate_hz))
        in_.fail();
    event.sample_gap_ns = in_.varint();
    event.waits = in_.varint();
    event.wait_samples = in_.varint();
    event.wall = in_.boolean();
    if (has_marks()) {
        event.gated = in_.varint();
        event.gated_waits = in_.varint();
        event.gated_slow_calls = in_.varint();
    }
    if (has_overhead()) {
        event.waits_hz = in_.varint();
        event.overhead = overhead();
    }
    if (has_parks()) {
        event.goroutines = static_cast<LedgerEvent::Goroutines>(
            in_.varint_up_to(static_cast<uint64_t>(LedgerEvent::Goroutines::too_often)));
        event.goroutine_switches = in_.varint();
    }
    const size_t causes = in_.count(recording::max_causes);
    for (size_t i = 0; i < causes; ++i) {
        std::string cause(text());
        event.lost[std::move(cause)] = in_.varint();
    }
    if (!in_.failed())
        sink.on_ledger(event);
}

} // namespace auger
