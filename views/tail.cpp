// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tail.h"

#include "loader/stream/observed_exit.h"
#include "views/escape.h"
#include "views/short_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {

void Tail::add(const SpecInfo& function) {
    const ObservedExit& way_out = function.way_out;
    const bool never = way_out.kind() == ObservedExit::Kind::without_tail;
    if (!never && way_out.kind() != ObservedExit::Kind::in_callers)
        return;
    timed = never ? Timed::never : std::max(timed, Timed::by_callers);
    if (const std::string_view names = way_out.jumps_to(); !names.empty())
        functions.emplace(names);
}

Tail tail_of(const SpecInfo& function) {
    Tail tail;
    tail.add(function);
    return tail;
}

Tail tail_of(const Model& model, const ProbeInfo& probe) {
    Tail tail;
    for (const SpecId spec : probe.specs)
        tail.add(model.specs()[spec.index()]);
    return tail;
}

Tail tail_of(const Model& model, SpecId function) {
    return function.index() < model.specs().size() ? tail_of(model.specs()[function.index()])
                                                   : Tail();
}

std::string tail_text(const Tail& tail) {
    switch (tail.timed) {
    case Tail::Timed::never:
        return "without its tail";
    case Tail::Timed::by_callers:
        return "tail: of known callers";
    case Tail::Timed::always:
        break;
    }
    return {};
}

std::string tail_advice(const Tail& tail) {
    if (tail.timed == Tail::Timed::always)
        return {};
    const std::string functions =
        escape_untrusted(fmt::format("{}", fmt::join(tail.functions, ", ")));
    const std::string what = functions.empty() ? "what it jumps to at its end"
                                               : "what it jumps to at its end, " + functions + ",";
    return (tail.timed == Tail::Timed::never
                ? fmt::format("without its tail: {} is not in these times", what)
                : fmt::format("{} is in the times of calls from known callers only", what)) +
           (functions.empty() ? "" : "; time that to see it");
}

std::string with_tail(std::string_view name, const std::string& tail_text) {
    return tail_text.empty() ? std::string(name) : fmt::format("{} ({})", name, tail_text);
}

std::string fit_with_tail(std::string_view name, const std::string& tail_text, size_t width,
                          std::string_view ellipsis) {
    const size_t behind = text_width(with_tail("", tail_text));
    // Where there is room for one character of it at least.
    if (behind + text_width(ellipsis) >= width)
        return fit_name(with_tail(name, tail_text), width, ellipsis);
    return with_tail(fit_name(name, width - behind, ellipsis), tail_text);
}

} // namespace auger
