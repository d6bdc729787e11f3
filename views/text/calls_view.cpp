// SPDX-License-Identifier: GPL-3.0-or-later
// calls: the slow calls that were traced, each with its stack, the newest last.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/slow_call_query.h"
#include "views/text/draw.h"

#include <fmt/format.h>

namespace auger {

namespace {

void add_call(Canvas& canvas, const Model& model, const Classifier& classify,
              const SlowCall& call) {
    const ThreadInfo& thread = model.symbols().thread(call.end.thread);
    size_t y = canvas.height();
    double at = call.end.time_ns > model.first_ns()
                    ? static_cast<double>(call.end.time_ns - model.first_ns()) / 1e9
                    : 0;
    canvas.put_right(12, y, fmt::format("+{:.3f} s", at), Style::dim);
    if (!call.end.is_hit())
        canvas.put_right(22, y, format_duration(static_cast<double>(call.end.duration_ns)),
                         Style::slow);
    size_t x = canvas.put(24, y, call_text(model, call.end.call.spec), Style::title);
    std::string name = fmt::format("{} {}", thread.comm, thread.tid);
    if (model.machines() > 1)
        name += " on " + model.machine(thread.machine).name;
    x = canvas.put(x + 2, y, name);
    if (call.threshold_ns)
        x = canvas.put(x + 2, y,
                       fmt::format("> {}{}",
                                   format_duration(static_cast<double>(call.threshold_ns)),
                                   call.end.unwound ? ", unwound" : ""),
                       Style::dim);
    if (model.split().active) {
        ClassFilter of = class_of(model, classify, call);
        canvas.put(x + 2, y, to_string(of), style_of(of));
    }
    add_call_facts(canvas, model, call, 6);
}

} // namespace

Result<Canvas> calls_view(const Model& model, const ViewOptions& options,
                          std::optional<ProbeId> probe, const ClassFilter& filter) {
    if (probe && !model.find_probe(*probe))
        return Error{"show calls", fmt::format("#{}", probe->value), "no such probe", "see: probes",
                     Error::Kind::failed};
    std::string title = "calls";
    if (probe)
        title += " " + probe_text(model, *probe);
    if (!filter.all())
        title += " " + escape_untrusted(to_string(filter));
    Canvas canvas = start_view(model, options, title, model.split().active);
    Classifier classify(model);
    std::vector<const SlowCall*> calls =
        find_slow_calls(model, classify, options.window, probe, filter);
    size_t left_out = count_left_out(model, classify, options.window, probe);
    if (left_out)
        canvas.add_line(fmt::format("{} slow call{} left out by `only`.",
                                    format_count(double(left_out)),
                                    left_out == 1 ? " is" : "s are"),
                        Style::dim);
    size_t first = options.limit && calls.size() > options.limit ? calls.size() - options.limit : 0;
    if (calls.empty()) {
        canvas.add_line(filter.all() && !left_out ? "No slow call was traced."
                                                  : "No such slow call was traced.",
                        Style::dim);
        return canvas;
    }
    canvas.add_line(fmt::format("{} {}{}{}", format_count(double(calls.size())), noun_of(calls),
                                calls.size() == 1 ? "" : "s",
                                first ? fmt::format(", the last {} shown", options.limit) : ""),
                    Style::dim);
    if (model.slow_calls_received() > model.slow_calls().size())
        canvas.add_line(fmt::format("{} older ones were given up to make room.",
                                    format_count(double(model.slow_calls_received() -
                                                        model.slow_calls().size()))),
                        Style::warning);
    for (size_t i = first; i < calls.size(); i++) {
        const SlowCall& call = *calls[i];
        canvas.add_line();
        add_call(canvas, model, classify, call);
        add_frames(canvas, model.symbols(), options.unicode, model.symbols().stack(call.stack),
                   options.stack, 6);
    }
    return canvas;
}

} // namespace auger
