// SPDX-License-Identifier: GPL-3.0-or-later
// hist: durations of a probe's calls in at most two dozen rows, with the percentiles and thresholds
// where they lie.
#include "views/escape.h"
#include "views/format.h"
#include "views/tail.h"
#include "views/text/draw.h"
#include "views/text/histogram_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace auger {

namespace {

constexpr uint32_t max_rows = 24;

struct Mark {
    std::string text;
    uint32_t bucket;
    Style style;
};

std::vector<Mark> find_marks(const Model& model, ProbeId probe, const CallStatistics& calls) {
    std::vector<Mark> marks;
    auto add = [&](std::string text, double value, Style style) {
        marks.push_back({std::move(text), bucket_of(static_cast<uint64_t>(value)), style});
    };
    add("p50", calls.quantile(0.5), Style::dim);
    add("p95", calls.quantile(0.95), Style::dim);
    add("p99", calls.quantile(0.99), Style::dim);
    add("p99.9", calls.quantile(0.999), Style::dim);
    if (ThresholdState slow = model.slow_state(probe); slow.in_force() && slow.value_ns)
        add("slow", static_cast<double>(slow.value_ns), Style::slow);
    if (ThresholdState split = model.split_state();
        model.split().probe == probe && split.in_force())
        add("split", static_cast<double>(split.value_ns), Style::open);
    return marks;
}

void draw_rows(Canvas& canvas, const ViewOptions& options, const CallStatistics& calls,
               const std::vector<Mark>& marks) {
    std::vector<HistogramRow> rows = histogram_rows(calls.durations, max_rows);
    double most = 0;
    for (const HistogramRow& row : rows)
        most = std::max(most, row.count);
    constexpr size_t bars = 36;
    constexpr size_t marks_width = 17;
    size_t bar_width =
        canvas.width() > bars + marks_width ? canvas.width() - bars - marks_width : 4;
    size_t y = canvas.height() + 1;
    canvas.put_right(11, y, "from", Style::dim);
    canvas.put_right(21, y, "calls", Style::dim);
    canvas.put_right(33, y++, "up to here", Style::dim);
    double seen = 0;
    for (size_t i = 0; i < rows.size(); i++) {
        const HistogramRow& row = rows[i];
        size_t next = i;
        while (next < rows.size() && rows[next].count <= 0)
            next++;
        bool marked = false;
        for (const Mark& mark : marks)
            marked |= next > i + 2 && mark.bucket >= row.first && mark.bucket < rows[next - 1].end;
        if (next > i + 2 && !marked) { // a gap is no news in many rows
            canvas.put_right(11, y++, ellipsis(options.unicode), Style::dim);
            i = next - 1;
            continue;
        }
        seen += row.count;
        canvas.put_right(11, y, format_duration(static_cast<double>(bucket_low(row.first))));
        canvas.put_right(21, y, format_count(row.count), Style::number);
        canvas.put_right(33, y, format_percent(seen / calls.durations.total()), Style::dim);
        canvas.put(35, y, bar(row.count / most, bar_width, options.unicode));
        size_t x = 35 + bar_width + 1;
        for (const Mark& mark : marks)
            if (mark.bucket >= row.first && mark.bucket < row.end)
                x = canvas.put(x, y, mark.text, mark.style) + 1;
        y++;
    }
}

void add_ambiguous(Canvas& canvas, const Ambiguous& ambiguous) {
    std::string text;
    const auto part = [&](double count, const char* why) {
        if (count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "ambiguous: " : ", ", format_count(count),
                                why);
    };
    part(ambiguous.early, "asked before the answer (pipelines)");
    part(ambiguous.unasked, "on connections that send unasked");
    part(ambiguous.tls, "in TLS");
    part(ambiguous.http2, "in HTTP/2");
    if (!text.empty())
        canvas.add_line(text, Style::warning);
}

// What parked goroutines waited for, the most first.
void add_park_reasons(Canvas& canvas, const SpanTimes& times) {
    constexpr size_t most = 4;
    std::vector<size_t> reasons;
    for (size_t i = 0; i < park_reasons; i++)
        if (times.parked_for[i] > 0)
            reasons.push_back(i);
    std::ranges::stable_sort(reasons, std::ranges::greater(),
                             [&](size_t i) { return times.parked_for[i]; });
    std::string text;
    double rest = 0;
    for (size_t i = 0; i < reasons.size(); i++) {
        const double part = times.parked_for[reasons[i]];
        if (i < most)
            text += fmt::format("{}{} {}", text.empty() ? "parked for: " : ", ",
                                park_reason_names[reasons[i]], format_percent(part / times.sum()));
        else
            rest += part;
    }
    if (rest > 0)
        text += fmt::format(", others {}", format_percent(rest / times.sum()));
    if (!text.empty())
        canvas.add_line(std::move(text));
}

// Where the time went of spans, or of goroutines' calls; `unknown` of it was served or parked.
void add_times(Canvas& canvas, const SpanTimes& times, double unknown, std::string text) {
    const double all = times.sum() + unknown;
    if (all <= 0)
        return;
    const auto part = [&](const char* name, double ns) {
        text += fmt::format("{}{} {}", text.ends_with(' ') ? "" : ", ", name,
                            format_percent(std::max(ns, 0.0) / all));
    };
    if (times.watched > 0) {
        part("cpu", times.watched - times.blocked - times.runnable);
        part("blocked", times.blocked);
        part("runnable", times.runnable);
    }
    if (const double rest = times.attached - times.watched; rest > 0)
        part("served", rest); // on a thread
    if (unknown > 0)
        part("served or parked", unknown); // by a goroutine, or a task, wherever that was
    if (unknown <= 0 || times.parked > 0)
        part("parked", times.parked);
    part("queued", times.queued);
    canvas.add_line(std::move(text));
}

// Of calls that were not watched from beginning to end nothing is known.
void add_goroutine_line(Canvas& canvas, const CallStatistics& calls) {
    constexpr double all_but = 0.999;
    const double watched = calls.sum_ns > 0 ? calls.span.sum() / calls.sum_ns : 0;
    if (watched > 0 && watched < all_but)
        canvas.add_line(fmt::format("{} of their time was watched", format_percent(watched)));
    add_times(canvas, calls.span, 0, watched < all_but ? "of that: " : "of their time: ");
    add_park_reasons(canvas, calls.span);
}

// The account of a span, and where its time went.
void add_span_lines(Canvas& canvas, const ProbeInfo& probe, const CallStatistics& calls) {
    canvas.add_line(escape_untrusted(probe.span), Style::dim);
    canvas.add_line(fmt::format(
        "{} {}: {} ended, {} {}, {} expired, {} open now, {} dropped{}; {} stray ends",
        format_count(calls.entries), probe.is_exchanges() ? "exchanges" : "spans",
        format_count(calls.returns), format_count(calls.unwound),
        probe.is_exchanges() ? "unanswered" : "unended", format_count(calls.expired),
        format_count(static_cast<double>(calls.open)), format_count(calls.dropped),
        probe.is_exchanges() ? fmt::format(", {} ambiguous", format_count(calls.filtered)) : "",
        format_count(calls.stray)));
    add_ambiguous(canvas, calls.ambiguous);
    add_times(canvas, calls.span,
              calls.span.is_park_known(calls.sum_ns) ? 0
                                                     : calls.span.served_or_parked(calls.sum_ns),
              "of their time: ");
}

} // namespace

Result<Canvas> hist_view(const Model& model, const ViewOptions& options, ProbeId id,
                         const std::optional<HostChoice>& host) {
    const ProbeInfo* probe = model.find_probe(id);
    if (!probe)
        return Error{"show histogram", fmt::format("#{}", id.value), "no such probe", "see: probes",
                     Error::Kind::failed};
    CallStatistics calls = model.probe_statistics(id, options.window, host);
    uint64_t from = std::max(calls.from_ns, model.first_ns());
    ClassFilter of_host;
    of_host.host = host;
    Canvas canvas = start_view(model, options,
                               "hist " + probe_text(model, id) +
                                   (host ? " " + escape_untrusted(to_string(of_host)) : ""),
                               from, false);
    const bool counted = model.is_counted(id);
    if (counted)
        canvas.add_line(fmt::format(
            "reached {} time{}{}{}", format_count(calls.entries), calls.entries == 1 ? "" : "s",
            calls.filtered > 0 ? fmt::format(", {} filtered", format_count(calls.filtered)) : "",
            calls.dropped > 0 ? fmt::format(", {} dropped", format_count(calls.dropped)) : ""));
    else if (probe->span.empty())
        canvas.add_line(fmt::format(
            "{} calls: {} returned, {} unwound, {} open now, {} dropped{}",
            format_count(calls.entries), format_count(calls.returns), format_count(calls.unwound),
            format_count(static_cast<double>(calls.open)), format_count(calls.dropped),
            calls.filtered > 0 ? fmt::format(", {} filtered", format_count(calls.filtered)) : ""));
    else
        add_span_lines(canvas, *probe, calls);
    if (!counted && probe->span.empty())
        add_goroutine_line(canvas, calls);
    if (const std::string tail = tail_advice(tail_of(model, *probe)); !tail.empty())
        canvas.add_line(tail, Style::warning);
    if (!probe->conditions.only_if.empty())
        canvas.add_line("only if " + escape_untrusted(probe->conditions.only_if), Style::dim);
    if (counted) {
        canvas.add_line("A place has no duration: it is counted.", Style::dim);
        return canvas;
    }
    if (calls.durations.total() <= 0) {
        canvas.add_line("No call has returned.", Style::dim);
        return canvas;
    }
    size_t y = canvas.height();
    struct Figure {
        const char* name;
        double ns;
    };
    const Figure figures[] = {{"min", static_cast<double>(calls.min_ns)},
                              {"p50", calls.quantile(0.5)},
                              {"p95", calls.quantile(0.95)},
                              {"p99", calls.quantile(0.99)},
                              {"p99.9", calls.quantile(0.999)},
                              {"max", static_cast<double>(calls.max_ns)},
                              {"mean", calls.returns > 0 ? calls.sum_ns / calls.returns : 0}};
    size_t x = 0;
    for (const Figure& figure : figures) {
        std::string value = format_duration(figure.ns);
        size_t width = std::string_view(figure.name).size() + 1 + value.size();
        if (x && x + 3 + width > canvas.width()) {
            x = 0;
            y++;
        }
        x = canvas.put(x ? x + 3 : 0, y, figure.name, Style::dim);
        x = canvas.put(x + 1, y, value, Style::number);
    }
    if (probe->slow.kind != Threshold::Kind::none)
        canvas.add_line(tracing_text(*probe, model.slow_state(id)), Style::dim);
    if (model.split().active && model.split().probe == id)
        canvas.add_line("split " + split_text(model), Style::dim);
    draw_rows(canvas, options, calls, find_marks(model, id, calls));
    return canvas;
}

} // namespace auger
