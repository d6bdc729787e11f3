// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/call_details.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

// Where it waited, and its waker: a wait's stack goes on with the waker's, its root first.
void add_wait(Canvas& canvas, const SymbolTables& symbols, bool unicode,
              std::span<const LocationId> stack) {
    const auto end = std::ranges::find_if(stack, [&](LocationId location) {
        return symbols.module(symbols.location(location).module).kind == ModuleKind::waker;
    });
    const bool known = end != stack.end();
    canvas.add_line("stack of its longest wait:", Style::dim);
    add_frames(canvas, symbols, unicode, {known ? end + 1 : stack.begin(), stack.end()},
               whole_stack, 2);
    if (!known) {
        canvas.add_line("\"sample wall wakers\" adds the stack of its waker", Style::dim);
        return;
    }
    canvas.add_line("stack of its waker:", Style::dim);
    std::vector<LocationId> waker(stack.begin(), end + 1);
    std::ranges::reverse(waker);
    add_frames(canvas, symbols, unicode, waker, whole_stack, 2);
}

} // namespace

CallDetails take_details(const Model& model, const SlowCall& call, uint64_t number,
                         const ClassFilter& of) {
    CallDetails details;
    details.number = number;
    details.call = call;
    details.of = of;
    details.with_class = model.split().active;
    details.place = main_place_of(model, call);
    const CallTable& calls = model.calls();
    CallIndex at = details.call.call == no_call ? no_call : calls[details.call.call].parent;
    for (size_t steps = 0; at != no_call && steps < 2 * most_open_calls; steps++) {
        const CallRecord& record = calls[at];
        details.around.push_back(
            {call_text(model, record.spec),
             record.state == CallRecord::State::open
                 ? "was still running"
                 : fmt::format("{}{}", format_duration(static_cast<double>(record.duration_ns)),
                               record.state == CallRecord::State::unwound    ? ", unwound"
                               : record.state == CallRecord::State::filtered ? ", left out"
                                                                             : "")});
        at = record.parent;
    }
    return details;
}

Canvas draw_call_details(const CallDetails& details, const Model& model, size_t width,
                         bool unicode) {
    Canvas canvas(std::max<size_t>(width, 8));
    const SlowCall& call = details.call;
    const ThreadInfo& thread = model.symbols().thread(call.end.thread);
    std::vector<Part> parts;
    parts.push_back({call_text(model, call.end.call.spec),
                     call.end.is_hit()
                         ? ""
                         : " " + format_duration(static_cast<double>(call.end.duration_ns)) +
                               (call.end.unwound ? ", unwound" : ""),
                     Style::title});
    if (call.threshold_ns)
        parts.push_back(
            {"> " + format_duration(static_cast<double>(call.threshold_ns)), "", Style::dim});
    parts.push_back({escape_untrusted(fmt::format("{} {}", thread.comm, thread.tid)), ""});
    if (details.with_class)
        parts.push_back({to_string(details.of), "", style_of(details.of)});
    add_parts(canvas, parts);
    add_call_facts(canvas, model, call, 0);
    for (const CallDetails::Around& around : details.around)
        canvas.add_line(fmt::format("in a call of {}: {}", around.probe, around.state), Style::dim);
    const SymbolTables& symbols = model.symbols();
    const auto stack = symbols.stack(details.place ? details.place->stack : call.stack);
    if (details.place && details.place->waited) {
        add_wait(canvas, symbols, unicode, stack);
    } else {
        if (details.place)
            canvas.add_line(details.place->samples == 1
                                ? "stack of its one sample on the CPU:"
                                : fmt::format("heaviest stack of its {} samples on the CPU:",
                                              details.place->samples),
                            Style::dim);
        add_frames(canvas, symbols, unicode, stack, whole_stack, 2);
    }
    if (stack.empty())
        canvas.add_line("(no stack)", Style::dim);
    return canvas;
}

} // namespace auger
