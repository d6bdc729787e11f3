// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/place_kind.h"

#include "loader/stream/events.h"

#include <fmt/format.h>

namespace auger {

std::string way_out_of(const PlaceMatch& match, ExitWay exit) {
    if (match.kind == PlaceKind::call_site)
        return call_site_way_out;
    return exit == ExitWay::instructions || exit == ExitWay::go ? "ret" : "trampoline";
}

namespace {

std::string stepped(const char* place, ProbeCost cost) {
    return fmt::format("{}{}", place, cost == ProbeCost::single_stepped ? " (stepped)" : "");
}

} // namespace

std::string place_kind(const PlaceMatch& match, ExitWay exit) {
    if (match.kind != PlaceKind::call_site)
        return stepped("entry", match.entry.cost) + "+" + way_out_of(match, exit);
    if (match.site->jump)
        return stepped("jump", match.entry.cost) + "+return in callers";
    std::string kind =
        stepped(match.site->pointer ? "call through pointer" : "call", match.entry.cost);
    for (const ExitPlace& back : match.exits)
        kind += "+" + stepped("return", back.code.cost);
    return kind;
}

} // namespace auger
