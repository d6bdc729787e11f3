// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/place_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

ObservedExit way_out_of(const PlaceMatch& match, ExitWay exit) {
    if (exit == ExitWay::point)
        return ObservedExit::Kind::count;
    if (match.kind == PlaceKind::call_site)
        return ObservedExit::Kind::call_site;
    return exit == ExitWay::instructions || exit == ExitWay::go
               ? ObservedExit::Kind::exit_instructions
               : ObservedExit::Kind::return_probe;
}

namespace {

const char* place_text(PlaceKind kind) {
    switch (kind) {
    case PlaceKind::instruction:
        return "instruction";
    case PlaceKind::line:
        return "line";
    case PlaceKind::call_site:
        return "call";
    case PlaceKind::usdt:
        return "usdt";
    case PlaceKind::tracepoint:
        return "tracepoint";
    case PlaceKind::function:
        break;
    }
    return "entry";
}

std::string stepped(const char* place, ProbeCost cost) {
    return fmt::format("{}{}", place, cost == ProbeCost::single_stepped ? " (stepped)" : "");
}

// How many of the exits are emulated because they are before the ret.
std::string early_exits(const std::vector<ExitPlace>& exits) {
    const auto stepped = std::ranges::count_if(
        exits, [](const ExitPlace& exit) { return exit.code.cost == ProbeCost::single_stepped; });
    if (std::ranges::none_of(exits, [](const ExitPlace& exit) { return exit.code.early; }))
        return "";
    if (stepped == 0)
        return " (cheap)";
    return fmt::format(" ({} of {} cheap)", exits.size() - static_cast<size_t>(stepped),
                       exits.size());
}

} // namespace

std::string place_kind(const PlaceMatch& match, ExitWay exit, const std::vector<ExitPlace>& exits) {
    if (exit == ExitWay::point)
        return stepped(place_text(match.kind), match.entry.cost);
    if (match.kind != PlaceKind::call_site)
        return stepped("entry", match.entry.cost) + "+" + way_out_of(match, exit).text() +
               (is_trampoline(exit) ? "" : early_exits(exits));
    if (match.site->jump)
        return stepped("jump", match.entry.cost) + "+return in callers";
    std::string kind =
        stepped(match.site->pointer ? "call through pointer" : "call", match.entry.cost);
    for (const ExitPlace& back : match.exits)
        kind += "+" + stepped("return", back.code.cost);
    return kind;
}

} // namespace auger
