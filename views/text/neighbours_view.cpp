// SPDX-License-Identifier: GPL-3.0-or-later
// callers, callees: the functions around one, with the time that lies in such a call.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/neighbours.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <fmt/format.h>

namespace auger {

Canvas neighbours_view(const Model& model, const ViewOptions& options, const FunctionFocus& focus,
                       const ClassFilter& filter, FrameChoice frames) {
    const bool callers = focus.kind == FunctionFocus::Kind::callers;
    const std::string name = display_name(model.symbols().name(focus.function));
    std::string title = fmt::format("{} of {}", callers ? "callers" : "callees", name);
    if (!filter.all())
        title += " " + escape_untrusted(to_string(filter));
    if (frames != FrameChoice::all)
        title += fmt::format(" --{}", name_of(frames));
    const Neighbours found = sum_neighbours(model, options.window, filter, focus, frames);
    Canvas canvas = start_view(model, options, title, true);
    add_left_out(canvas, model, Classifier(model), options.window);
    const SampleSum whole = found.function.sum();
    if (whole.samples == 0) {
        canvas.add_line(fmt::format("No samples with {} on the stack.", name), Style::dim);
        return canvas;
    }
    canvas.add_line(fmt::format("{} sample{} with it on the stack, about {} of thread time",
                                format_count(whole.samples), whole.samples == 1 ? "" : "s",
                                format_duration(whole.weight_ns)),
                    Style::dim);
    constexpr size_t names = 39;
    size_t y = canvas.height() + 1;
    canvas.put_right(7, y, "share", Style::dim);
    canvas.put_right(17, y, "time", Style::dim);
    canvas.put_right(27, y, "samples", Style::dim);
    canvas.put_right(37, y, "own time", Style::dim);
    canvas.put(names, y++, callers ? "called by" : "calls", Style::dim);
    auto put_row = [&](const SampleSum& total, const SampleSum& own, std::string_view text,
                       Style style) {
        canvas.put_right(7, y, format_percent(total.weight_ns / whole.weight_ns), Style::number);
        canvas.put_right(17, y, format_duration(total.weight_ns));
        canvas.put_right(27, y, format_count(total.samples));
        if (own.samples > 0)
            canvas.put_right(37, y, format_duration(own.weight_ns));
        canvas.put(names, y++, fit_name(text, canvas.width() - names, ellipsis(options.unicode)),
                   style);
    };
    size_t rows = found.neighbours.size();
    if (options.limit)
        rows = std::min(options.limit, rows);
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        const FunctionSums& of = found.neighbours[i];
        const Function& function = model.symbols().function(of.function);
        put_row(of.total.sum(), of.self.sum(), display_name(model.symbols().name(of.function)),
                function.kernel ? Style::kernel : Style::name);
    }
    for (const FunctionSums& of : found.neighbours)
        sum += of.total.sum().weight_ns;
    if (rows < found.neighbours.size())
        canvas.add_line(fmt::format("({} more functions)",
                                    format_count(double(found.neighbours.size() - rows))),
                        Style::dim, names);
    y = canvas.height();
    const SampleSum none = found.none.sum();
    if (none.samples > 0)
        put_row(none, {}, callers ? "(no caller: the stack begins with it)" : "(itself)",
                Style::dim);
    if (sum + none.weight_ns > whole.weight_ns * (1 + 1e-9))
        canvas.add_line(
            "Recursion: a sample counts once for each of these that is on its stack, so "
            "the shares are more than 100 % together.",
            Style::dim);
    return canvas;
}

} // namespace auger
