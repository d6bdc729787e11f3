// SPDX-License-Identifier: GPL-3.0-or-later
// suggest: functions worth timing, and what to type next.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/function_probe.h"
#include "views/next_step.h"
#include "views/short_name.h"
#include "views/tail.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

Canvas suggest_view(const Model& model, const ViewOptions& options,
                    const Suggestions& suggestions) {
    Canvas canvas(std::max(options.width, min_width));
    const auto samples = static_cast<double>(suggestions.samples);
    if (suggestions.samples < least_samples_to_suggest) {
        canvas.add_line(
            suggestions.samples == 0
                ? std::string("No samples yet: \"sample wall 499\" takes them.")
                : fmt::format("Only {} samples yet: ask again in a moment.", format_count(samples)),
            Style::dim);
        return canvas;
    }
    if (suggestions.functions.empty()) {
        canvas.add_line(fmt::format("In {} samples no function that can be timed was seen to "
                                    "return.",
                                    format_count(samples)));
        canvas.add_line("\"top\" lists functions by their time; \"time FUNCTION\" times any of a "
                        "file.",
                        Style::dim);
        return canvas;
    }
    canvas.add_line(fmt::format("Functions that do a piece of work and return, by CPU time "
                                "({} samples)",
                                format_count(samples)));
    const size_t names = 41;
    size_t y = canvas.height() + 1;
    canvas.put_right(7, y, "cpu", Style::dim);
    canvas.put_right(17, y, "on cpu", Style::dim);
    canvas.put_right(27, y, "blocked", Style::dim);
    canvas.put_right(39, y, "returns", Style::dim);
    canvas.put(names, y++, "function", Style::dim);
    const size_t rows = options.limit ? std::min(options.limit, suggestions.functions.size())
                                      : suggestions.functions.size();
    for (size_t i = 0; i < rows; i++, y++) {
        const Suggestion& one = suggestions.functions[i];
        const double share = suggestions.cpu_ns > 0 ? one.cpu_ns / suggestions.cpu_ns : 0;
        canvas.put_right(7, y, format_percent(share), Style::number);
        canvas.put_right(17, y, format_duration(one.cpu_ns));
        if (one.blocked_ns > 0)
            canvas.put_right(27, y, format_duration(one.blocked_ns));
        canvas.put_right(39, y,
                         fmt::format("{} {}", options.unicode ? "≥" : ">=",
                                     format_count(static_cast<double>(one.returns))));
        std::string timed;
        if (const ProbeInfo* probe = probe_of(model, one.function)) {
            const CallStatistics calls = model.probe_statistics(probe->id);
            // Without room for both: no figure, rather than one that seems to be all.
            const std::string tail = tail_text(tail_of(model, *probe));
            timed = calls.returns > 0
                        ? fmt::format("  (timed, {})",
                                      tail.empty() ? "p99 " + format_duration(calls.quantile(0.99))
                                                   : tail)
                        : "  (timed)";
        }
        const size_t room = canvas.width() - names - text_width(timed);
        const size_t end = canvas.put(names, y,
                                      fit_name(display_name(model.symbols().name(one.function)),
                                               room, ellipsis(options.unicode)),
                                      Style::name);
        canvas.put(end, y, timed, Style::dim);
    }
    canvas.add_line("");
    canvas.add_line("next: " + next_step(model, suggestions), Style::title);
    return canvas;
}

} // namespace auger
