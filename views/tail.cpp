// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tail.h"

#include "loader/stream/observed_exit.h"
#include "views/escape.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {

Tail tail_of(const Model& model, const ProbeInfo& probe) {
    Tail tail;
    for (const SpecId spec : probe.specs) {
        const ObservedExit& way_out = model.specs()[spec.index()].way_out;
        const bool never = way_out.kind() == ObservedExit::Kind::without_tail;
        if (!never && way_out.kind() != ObservedExit::Kind::in_callers)
            continue;
        tail.timed = never ? Tail::Timed::never : std::max(tail.timed, Tail::Timed::by_callers);
        if (const std::string_view names = way_out.jumps_to(); !names.empty())
            tail.functions.emplace(names);
    }
    return tail;
}

std::string tail_text(const Model& model, const ProbeInfo& probe) {
    const Tail tail = tail_of(model, probe);
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

std::string tail_advice(const Model& model, const ProbeInfo& probe) {
    const Tail tail = tail_of(model, probe);
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

} // namespace auger
