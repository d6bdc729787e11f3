// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/call_records.h"

#include "views/escape.h"
#include "views/model/slow_call_query.h"
#include "views/tail.h"

#include <fmt/format.h>

namespace auger::json_parts {

void put_stack(Line& line, const Model& model, std::span<const LocationId> locations,
               const StackOptions& options) {
    Line stack = Line::array(), sources = Line::array();
    model.symbols().for_each_frame(locations, [&](size_t, const FrameEntry& frame) {
        if ((options.depth && stack.size() == options.depth) ||
            !is_chosen(model.symbols(), frame.function, options.frames))
            return;
        stack.push_back(escape_untrusted(model.symbols().name(frame.function)));
        std::string file = escape_untrusted(model.symbols().text(frame.file));
        sources.push_back(file.empty() ? Line(nullptr)
                                       : Line(fmt::format("{}:{}", file, frame.line)));
    });
    line["stack"] = std::move(stack);
    line["source"] = std::move(sources);
}

void put_slow_call(Line& line, const Model& model, const Classifier& classify, const SlowCall& call,
                   const StackOptions& stack) {
    const ThreadInfo& thread = model.symbols().thread(call.end.thread);
    line["probe"] = probe_name(model, probe_of(model, call));
    line["tail"] = text_or_null(tail_advice(tail_of(model, call.end.call.spec)));
    line["machine"] = text_or_null(model.machine(thread.machine).name);
    line["pid"] = thread.pid;
    line["tid"] = thread.tid;
    line["comm"] = escape_untrusted(thread.comm);
    line["start"] = call.end.call.start_ns;
    line["duration"] = call.end.is_hit() ? Line(nullptr) : Line(call.end.duration_ns);
    const auto& waits = call.end.waits;
    line["cpu"] = waits ? Line(cpu_ns(call.end)) : Line(nullptr);
    line["blocked"] = waits ? Line(waits->blocked_ns) : Line(nullptr);
    line["runnable"] = waits ? Line(waits->runnable_ns) : Line(nullptr);
    const bool park_known = is_park_known(model, call);
    line["parked"] = park_known ? Line(call.end.parked_ns) : Line(nullptr);
    line["queued"] = park_known || call.end.queued_ns ? Line(call.end.queued_ns) : Line(nullptr);
    line["longest_wait"] = nullptr;
    if (call.longest_wait.blocked_ns)
        line["longest_wait"] = {{"blocked", call.longest_wait.blocked_ns},
                                {"what", escape_untrusted(call.longest_wait.what)}};
    line["threshold"] = call.threshold_ns; // 0: every call is traced
    line["class"] = model.split().active
                        ? Line(escape_untrusted(to_string(class_of(model, classify, call))))
                        : Line(nullptr);
    line["values"] = Line::object(); // by name; null: could not be read, see "unreadable"
    line["unreadable"] = Line::object();
    for (const CallValue& value : call.values) {
        std::string name = escape_untrusted(value.name), text = escape_untrusted(value.text);
        line["values"][name] = value.readable ? Line(text) : Line(nullptr);
        if (!value.readable)
            line["unreadable"][name] = text;
    }
    line["unwound"] = call.end.unwound;
    put_stack(line, model, model.symbols().stack(call.stack), stack);
}

static Line times_line(const SpanTimes& times) {
    return {{"served", nanoseconds(times.attached)}, {"watched", nanoseconds(times.watched)},
            {"blocked", nanoseconds(times.blocked)}, {"runnable", nanoseconds(times.runnable)},
            {"parked", nanoseconds(times.parked)},   {"queued", nanoseconds(times.queued)}};
}

// Of goroutines' calls: where the time went of those that were watched, and what was waited for.
static Line goroutine_line(const SpanTimes& times) {
    Line line = times_line(times), parked_for = Line::object();
    for (size_t i = 0; i < park_reasons; i++)
        if (times.parked_for[i] > 0)
            parked_for[std::string(park_reason_names[i])] = nanoseconds(times.parked_for[i]);
    line["parked_for"] = std::move(parked_for);
    return line;
}

// Of a span: its definition, its account beside that of calls, and where its time went.
static Line span_line(const ProbeInfo& probe, const CallStatistics& calls) {
    Line times = times_line(calls.span);
    times["served_or_parked"] = nanoseconds(calls.span.served_or_parked(calls.sum_ns));
    return {{"definition", escape_untrusted(probe.span)},
            {"expired", number(calls.expired)},
            {"stray_ends", number(calls.stray)},
            {"ambiguous", probe.is_exchanges() ? Line{{"early", number(calls.ambiguous.early)},
                                                      {"unasked", number(calls.ambiguous.unasked)},
                                                      {"tls", number(calls.ambiguous.tls)},
                                                      {"http2", number(calls.ambiguous.http2)}}
                                               : Line(nullptr)},
            {"times", std::move(times)}};
}

void put_histogram(Line& line, const Model& model, const ProbeInfo& probe, const Window& window,
                   const std::optional<HostChoice>& host) {
    CallStatistics calls = model.probe_statistics(probe.id, window, host);
    line["probe"] = escape_untrusted(probe.text);
    line["window"] = window_line(window);
    line["count"] = number(calls.returns);
    line["unwound"] = number(calls.unwound);
    line["open"] = calls.open;
    line["dropped"] = number(calls.dropped);
    line["filtered"] = number(calls.filtered);
    line["span"] = probe.span.empty() ? Line(nullptr) : span_line(probe, calls);
    const bool goroutines = probe.span.empty() && calls.span.sum() > 0;
    line["goroutines"] = goroutines ? goroutine_line(calls.span) : Line(nullptr);
    line["only_if"] = text_or_null(probe.conditions.only_if);
    line["tail"] = tail_of_probe(model, probe.id);
    // A place that is counted has none.
    const bool counted = model.is_counted(probe.id);
    const auto duration = [&](double ns) {
        return counted ? Line(nullptr) : Line(nanoseconds(ns));
    };
    line["min"] = counted ? Line(nullptr) : Line(calls.min_ns);
    line["max"] = counted ? Line(nullptr) : Line(calls.max_ns);
    line["p50"] = duration(calls.quantile(0.5));
    line["p95"] = duration(calls.quantile(0.95));
    line["p99"] = duration(calls.quantile(0.99));
    line["p999"] = duration(calls.quantile(0.999));
    Line buckets = Line::array();
    for (uint32_t i = 0; i < calls.durations.end_bucket(); i++)
        if (calls.durations.count(i) > 0)
            buckets.push_back({bucket_low(i), bucket_high(i), number(calls.durations.count(i))});
    line["buckets"] = std::move(buckets);
}

} // namespace auger::json_parts
