// SPDX-License-Identifier: GPL-3.0-or-later
// diff: what the calls of one class have more of than those of the other, per call.
#include "views/escape.h"
#include "views/format.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr size_t shown_stacks = 5;

std::string signed_duration(double ns) {
    return (ns > 0 ? "+" : "") + format_duration(ns);
}

std::string name_of(const DiffSide& side) {
    return escape_untrusted(to_string(side.filter));
}

void add_side(Canvas& canvas, const DiffSide& side, size_t names) {
    size_t y = canvas.height();
    canvas.put(0, y, name_of(side), style_of(side.filter));
    canvas.put(names, y,
               fmt::format("{}{} calls, {} of them sampled; {} samples, {} a call",
                           side.estimated ? "about " : "", format_count(side.calls),
                           format_count(side.sampled_calls), format_count(side.samples.samples),
                           format_duration(side.per_call_ns)));
}

void add_functions(Canvas& canvas, const Model& model, const ViewOptions& options,
                   const Diff& diff) {
    size_t y = canvas.height() + 1;
    constexpr size_t names = 48;
    bool short_names =
        text_width(name_of(diff.first)) <= 8 && text_width(name_of(diff.second)) <= 8;
    canvas.put_right(8, y, short_names ? name_of(diff.first) : "first",
                     style_of(diff.first.filter));
    canvas.put_right(17, y, short_names ? name_of(diff.second) : "second",
                     style_of(diff.second.filter));
    canvas.put_right(28, y, "difference", Style::dim);
    canvas.put(29, y, std::string(plus_minus(options.unicode)) + " 95 %", Style::dim);
    canvas.put_right(45, y, "rest", Style::dim);
    canvas.put(names, y++, "function, per call", Style::dim);
    size_t rows = 0, hidden = 0, even = 0;
    bool any_sure = false, any_candidate = false;
    for (const FunctionDiff& f : diff.functions) {
        if (!f.sure() && !f.candidate()) {
            even++;
            continue;
        }
        any_sure |= f.significant;
        if (options.limit && rows == options.limit) {
            hidden++;
            continue;
        }
        rows++;
        any_candidate |= f.candidate();
        auto style = [&](Style if_sure) { return f.sure() ? if_sure : Style::dim; };
        canvas.put_right(8, y, format_duration(f.first_ns));
        canvas.put_right(17, y, format_duration(f.second_ns));
        canvas.put_right(28, y, signed_duration(f.difference_ns), style(Style::number));
        canvas.put(29, y, plus_minus(options.unicode), Style::dim);
        canvas.put_right(38, y, format_duration(f.margin_ns), Style::dim);
        double whole = diff.first.per_call_ns - diff.second.per_call_ns;
        if (whole > 0 && f.rest_difference_ns > 0)
            canvas.put_right(45, y, format_percent(f.rest_difference_ns / whole),
                             style(Style::slow));
        if (f.candidate())
            canvas.put(46, y, "?", Style::warning);
        const std::string needed =
            f.candidate() ? fmt::format("  +{} calls", format_count(double(f.calls_needed))) : "";
        const Function& function = model.symbols().function(f.function);
        const size_t room = canvas.width() > names + text_width(needed)
                                ? canvas.width() - names - text_width(needed)
                                : 0;
        const size_t x = canvas.put(names, y,
                                    fit_name(display_name(model.symbols().name(f.function)), room,
                                             ellipsis(options.unicode)),
                                    style(function.kernel ? Style::kernel : Style::name));
        canvas.put(x, y++, needed, Style::dim);
    }
    if (!any_sure)
        canvas.add_line(any_candidate ? "No function differs beyond chance yet: see `?` below."
                                      : "No function differs beyond chance.",
                        Style::warning);
    if (hidden)
        canvas.add_line(fmt::format("({} more that differ)", hidden), Style::dim, names);
    if (even)
        canvas.add_line(fmt::format("{} other function{} within chance.",
                                    format_count(double(even)), even == 1 ? " is" : "s are"),
                        Style::dim);
    if (any_candidate)
        canvas.add_line(
            fmt::format("?: may still be chance; about so many more {} calls would make it sure if "
                        "they went on alike.",
                        name_of(diff.first.calls <= diff.second.calls ? diff.first : diff.second)),
            Style::dim);
}

// Root first; a function that calls itself stands once, with how often.
std::string path_text(const Model& model, const std::vector<FunctionId>& path, bool unicode) {
    std::string text;
    for (size_t i = 0, next = 0; i < path.size(); i = next) {
        std::string name = display_name(model.symbols().name(path[i]));
        for (next = i + 1;
             next < path.size() && display_name(model.symbols().name(path[next])) == name;)
            next++;
        if (!text.empty())
            text += arrow(unicode);
        text += name;
        if (next - i > 1)
            text += fmt::format(" ({} times)", next - i);
    }
    return text;
}

void add_stacks(Canvas& canvas, const Model& model, const ViewOptions& options, const Diff& diff) {
    size_t shown = 0;
    for (const StackDiff& stack : diff.stacks) {
        if ((!stack.significant && stack.calls_needed == 0) || stack.difference_ns <= 0)
            continue;
        if (shown++ == 0) {
            canvas.add_line();
            canvas.add_line("Stacks with the largest difference", Style::title);
        }
        if (shown > shown_stacks)
            break;
        size_t y = canvas.height();
        canvas.put_right(10, y, signed_duration(stack.difference_ns),
                         stack.significant ? Style::number : Style::dim);
        if (!stack.significant)
            canvas.put(10, y, "?", Style::warning);
        std::string text = path_text(model, stack.path, options.unicode);
        size_t room = canvas.width() - 12; // the whole path, in as many lines as it takes
        Canvas wrapped(room);
        wrapped.add_line(text);
        for (size_t i = 0; i < wrapped.height(); i++)
            for (size_t x = 0; x < wrapped.row(i).size(); x++)
                if (const Cell& cell = wrapped.row(i)[x]; !cell.text.empty())
                    canvas.put(12 + x, y + i, cell.text);
    }
}

} // namespace

Result<Canvas> diff_view(const Model& model, const ViewOptions& options, const ClassFilter& first,
                         const ClassFilter& second, FrameChoice frames) {
    Result<Diff> result = diff_classes(model, options.window, first, second, frames);
    if (!result)
        return result.error();
    const Diff& diff = *result;
    std::string title = fmt::format("diff {} {}", name_of(diff.first), name_of(diff.second));
    if (frames != FrameChoice::all)
        title += fmt::format(" --{}", name_of(frames));
    Canvas canvas = start_view(model, options, title, diff.from_ns, true);
    size_t names = std::max(text_width(name_of(diff.first)), text_width(name_of(diff.second))) + 2;
    add_side(canvas, diff.first, names);
    add_side(canvas, diff.second, names);
    if (diff.first.estimated || diff.second.estimated)
        canvas.add_line("Calls of such a class are estimated: sampled ones stand for all that took "
                        "about as long. Margins do not hold the error of that.",
                        Style::dim);
    if (!model.only().gate.empty())
        canvas.add_line("Calls are counted whether `only` let their samples through or not.",
                        Style::warning);
    if (options.window.kind == Window::Kind::ewma)
        canvas.add_line("Calls do not fade here: everything that is kept counts.", Style::dim);
    if (diff.probe_handling.samples > 0)
        canvas.add_line(fmt::format("Left out: {} samples, {}, of the kernel at work for probes.",
                                    format_count(diff.probe_handling.samples),
                                    format_duration(diff.probe_handling.weight_ns)),
                        Style::dim);
    if (diff.recursive)
        canvas.add_line("The function recurses: inner calls are counted, too, so figures per call "
                        "are too small.",
                        Style::warning);
    if (diff.first.calls < 2 || diff.second.calls < 2) {
        canvas.add_line("Too few calls to compare: each class needs at least two.", Style::warning);
        return canvas;
    }
    add_functions(canvas, model, options, diff);
    add_stacks(canvas, model, options, diff);
    canvas.add_line();
    canvas.add_line(
        fmt::format("rest: what is left of a function's difference without its largest callee's, "
                    "as a share of the whole difference; not its own time. Sure is what a "
                    "permutation test by calls finds at a false discovery rate of 5 % "
                    "(Benjamini-Hochberg) in {} function{}.",
                    format_count(double(diff.tested_functions)),
                    diff.tested_functions == 1 ? "" : "s"),
        Style::dim);
    return canvas;
}

} // namespace auger
