// SPDX-License-Identifier: GPL-3.0-or-later
// probes: each probe with its thresholds, what it costs, and the functions that it times.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/timed_function.h"
#include "views/overhead_text.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

void add_probe(Canvas& canvas, const Model& model, const ViewOptions& options,
               const ProbeInfo& probe) {
    size_t y = canvas.height();
    canvas.put_right(4, y, fmt::format("{}", probe.id.value), Style::number);
    std::string what;
    if (probe.slow.kind != Threshold::Kind::none)
        what += tracing_text(probe, model.slow_state(probe.id));
    if (model.split().active && model.split().probe == probe.id)
        what += std::string(what.empty() ? "" : ", ") + "split" +
                split_text(model).substr(probe_text(model, probe.id).size());
    if (!probe.conditions.only_if.empty())
        what += std::string(what.empty() ? "" : ", ") + "only if " +
                escape_untrusted(probe.conditions.only_if);
    if (!probe.span.empty())
        what = escape_untrusted(probe.span) + (what.empty() ? "" : ", " + what);
    if (what.empty())
        what = model.is_counted(probe.id) ? "counted" : "timed";
    if (probe.off)
        what += ", off";
    size_t x = canvas.put(6, y, escape_untrusted(probe.text), Style::title);
    if (size_t at = std::max<size_t>(x + 2, 24); at + text_width(what) <= canvas.width())
        canvas.put(at, y, what, Style::dim);
    else
        canvas.add_line(what, Style::dim, 6);
    const Overhead& overhead = model.ledger().overhead;
    if (const Overhead::Cause* cause = overhead_of(overhead, probe.id))
        canvas.add_line(fmt::format("{} of the target's CPU time: {}",
                                    format_percent(overhead_share(overhead, cause->cost_ns)),
                                    overhead_figures(overhead, *cause)),
                        Style::dim, 6);
    size_t rows = 0, hidden = 0;
    for (const TimedFunction& timed : timed_functions(model, probe.id)) {
        const SpecInfo& spec = timed.info(model);
        if (options.limit && rows == options.limit) {
            hidden++;
            continue;
        }
        rows++;
        y = canvas.height();
        const CallStatistics calls = timed.calls(model, options.window);
        const bool is_point = timed.is_point(model);
        canvas.put_right(16, y, is_point ? "" : format_count(calls.counted()), Style::number);
        canvas.put_right(26, y,
                         is_point                      ? ""
                         : calls.durations.total() > 0 ? format_duration(calls.quantile(0.5))
                                                       : "-");
        canvas.put_right(36, y,
                         is_point                      ? ""
                         : calls.durations.total() > 0 ? format_duration(calls.quantile(0.99))
                                                       : "-");
        std::string place = spec.way_out.kind() == ObservedExit::Kind::span
                                ? "span"
                                : escape_untrusted(spec.module.substr(spec.module.rfind('/') + 1)) +
                                      (spec.offset ? fmt::format("+{:#x} ", spec.offset) : " ") +
                                      escape_untrusted(spec.way_out.text());
        // A place may have what a short name leaves.
        const std::string function = escape_untrusted(spec.function);
        size_t room = canvas.width() - 38;
        size_t for_place = std::min(
            text_width(place), std::max(room / 2, room - std::min(room, text_width(function) + 2)));
        std::string name = elide_middle(function, room - for_place - 2, ellipsis(options.unicode));
        canvas.put(38, y, name, Style::name);
        canvas.put_right(canvas.width(), y,
                         elide_middle(place, for_place, ellipsis(options.unicode)), Style::dim);
    }
    if (rows == 0)
        canvas.add_line("waiting: nothing matches yet", Style::dim, 6);
    if (hidden)
        canvas.add_line(fmt::format("({} more functions)", hidden), Style::dim, 38);
}

} // namespace

Canvas probes_view(const Model& model, const ViewOptions& options) {
    Canvas canvas = start_view(model, options, "probes", false);
    bool any = false;
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        if (!any) {
            size_t y = canvas.height() + 1;
            canvas.put_right(4, y, "id", Style::dim);
            canvas.put_right(16, y, "calls", Style::dim);
            canvas.put_right(26, y, "p50", Style::dim);
            canvas.put_right(36, y, "p99", Style::dim);
            canvas.put(38, y, "function", Style::dim);
        }
        any = true;
        add_probe(canvas, model, options, probe);
    }
    if (!any)
        canvas.add_line("No probes.", Style::dim);
    return canvas;
}

} // namespace auger
