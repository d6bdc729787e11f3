// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/csv.h"

#include "views/escape.h"
#include "views/exports/json_text.h"
#include "views/model/slow_call_query.h"
#include "views/tail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {

namespace {

std::string field(std::string_view raw) {
    std::string text = escape_untrusted(raw);
    // Spreadsheets run what looks like a formula.
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos)
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"") == text.npos)
        return text;
    for (size_t at = 0; (at = text.find('"', at)) != text.npos; at += 2)
        text.insert(at, 1, '"');
    return '"' + text + '"';
}

void write_comments(const std::vector<std::string>& lines, ByteSink& out) {
    for (const std::string& line : lines)
        out.write("# " + line + "\n");
}

void write_line(ByteSink& out, const std::vector<std::string>& fields) {
    out.write(fmt::format("{}\r\n", fmt::join(fields, ",")));
}

std::string values_text(const SlowCall& call) {
    std::string text;
    for (const CallValue& value : call.values)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", value.name,
                            value.readable ? value.text : "(" + value.text + ")");
    return text;
}

} // namespace

Result<uint64_t> write_calls_csv(const Model& model, const ExportQuery& query, ByteSink& out) {
    write_comments(export_notes(model, query), out);
    write_line(out, {"probe", "class", "pid", "tid", "comm", "start_ns", "duration_ns", "cpu_ns",
                     "blocked_ns", "runnable_ns", "threshold_ns", "longest_wait_ns", "longest_wait",
                     "values", "stack", "tail"});
    const Classifier classify(model);
    const auto calls = find_slow_calls(model, classify, query.window, {}, query.filter);
    const SymbolTables& symbols = model.symbols();
    for (const SlowCall* call : calls) {
        const ThreadInfo& thread = symbols.thread(call->end.thread);
        const ProbeInfo* probe = model.find_probe(probe_of(model, *call));
        const auto& waits = call->end.waits;
        std::string stack;
        symbols.for_each_frame(symbols.stack(call->stack), [&](size_t, const FrameEntry& frame) {
            stack += fmt::format("{}{}", stack.empty() ? "" : ";", symbols.name(frame.function));
        });
        const auto wait = [&](uint64_t ns) { return waits ? std::to_string(ns) : ""; };
        write_line(out,
                   {field(probe ? probe->text : ""),
                    model.split().active ? field(to_string(class_of(model, classify, *call))) : "",
                    std::to_string(thread.pid), std::to_string(thread.tid), field(thread.comm),
                    std::to_string(call->end.call.start_ns),
                    call->end.is_hit() ? "" : std::to_string(call->end.duration_ns),
                    wait(waits ? cpu_ns(call->end) : 0), wait(waits ? waits->blocked_ns : 0),
                    wait(waits ? waits->runnable_ns : 0), std::to_string(call->threshold_ns),
                    wait(call->longest_wait.blocked_ns), field(call->longest_wait.what),
                    field(values_text(*call)), field(stack),
                    field(tail_text(tail_of(model, call->end.call.spec)))});
    }
    return calls.size();
}

Result<uint64_t> write_histograms_csv(const Model& model, const ExportQuery& query, ByteSink& out) {
    write_comments(export_losses(model, query), out);
    write_line(out, {"probe", "from_ns", "to_ns", "calls", "tail"});
    uint64_t lines = 0;
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        const CallStatistics calls = model.probe_statistics(id, query.window);
        const std::string tail = field(tail_text(tail_of(model, probe)));
        for (uint32_t bucket = 0; bucket < calls.durations.end_bucket(); bucket++) {
            const double count = calls.durations.count(bucket);
            if (count <= 0)
                continue;
            const uint64_t high = bucket_high(bucket);
            write_line(out,
                       {field(probe.text), std::to_string(bucket_low(bucket)),
                        high == UINT64_MAX ? "" : std::to_string(high), json_number(count), tail});
            lines++;
        }
    }
    return lines;
}

} // namespace auger
