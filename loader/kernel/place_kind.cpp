// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/place_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

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

// Which of the exits are emulated because they are before the ret; empty: none.
std::string cheap_ones(const std::vector<ExitPlace>& exits) {
    const auto stepped = std::ranges::count_if(
        exits, [](const ExitPlace& exit) { return exit.code.cost == ProbeCost::single_stepped; });
    if (std::ranges::none_of(exits, [](const ExitPlace& exit) { return exit.code.early; }))
        return "";
    if (stepped == 0)
        return "cheap";
    return fmt::format("{} of {} cheap", exits.size() - static_cast<size_t>(stepped), exits.size());
}

} // namespace

ObservedExit way_out_of(const PlaceMatch& match, ExitWay exit,
                        const std::vector<ExitPlace>& exits) {
    if (exit == ExitWay::point)
        return ObservedExit::Kind::count;
    if (match.kind == PlaceKind::call_site)
        return ObservedExit::Kind::call_site;
    if (exit == ExitWay::instructions || exit == ExitWay::go)
        return {ObservedExit::Kind::exit_instructions, cheap_ones(exits)};
    return ObservedExit::Kind::return_probe;
}

std::string place_kind(const PlaceMatch& match, ExitWay exit, const std::vector<ExitPlace>& exits) {
    if (exit == ExitWay::point)
        return stepped(place_text(match.kind), match.entry.cost);
    if (match.kind != PlaceKind::call_site)
        return stepped("entry", match.entry.cost) + "+" + way_out_of(match, exit, exits).text();
    if (match.site->jump)
        return stepped("jump", match.entry.cost) + "+return in callers";
    std::string kind =
        stepped(match.site->pointer ? "call through pointer" : "call", match.entry.cost);
    for (const ExitPlace& back : match.exits)
        kind += "+" + stepped("return", back.code.cost);
    return kind;
}

} // namespace auger
