// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/tail_callers.h"

#include "bpf/wire.h"
#include "loader/probes/probe_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

const TailCallers::Known& TailCallers::known(const std::string& function) {
    const auto [found, is_new] = known_.try_emplace(function);
    if (!is_new)
        return found->second;
    const ParsedProbe sites = parse_probe(function + "@*");
    if (sites.error)
        return found->second;
    MatchOptions all;
    all.limit = WIRE_MAX_CALLEES;
    all.explain = false;
    auto matches = readers_.find(*sites.pattern, view_.files(), all);
    if (!matches)
        return found->second; // nobody calls it but through pointers
    for (PlaceMatch& match : matches->places)
        if (match.site && !match.site->pointer && !match.site->jump && match.site->callee &&
            !match.exits.empty() && !match.in_go)
            found->second.calls.push_back(std::move(match));
    found->second.being_read = std::move(matches->being_read);
    return found->second;
}

bool TailCallers::not_yet(const std::string& function, size_t module) {
    const auto group = [&](size_t of) { return FileGroup::of(*view_.modules[of].file); };
    return std::ranges::any_of(known(function).being_read,
                               [&](size_t read) { return group(read) == group(module); });
}

bool TailCallers::calls(const PlaceMatch& caller, size_t module, uint64_t function) {
    return caller.site->callee->module == module && caller.site->callee->address == function;
}

std::string TailCallers::no_way_back(const PlaceMatch& match) {
    if (!match.site || !match.site->jump)
        return {};
    const CallSite& site = *match.site;
    if (std::ranges::any_of(of(site.caller), [&](const PlaceMatch& caller) {
            return calls(caller, match.module, site.caller_address);
        }))
        return {};
    return fmt::format(
        "is a tail call: it leaves by a jump, and comes back to where {} was called; "
        "no call instruction is known that calls that (it is called through a "
        "pointer, or reached by a jump itself); time {} itself",
        site.caller, site.function);
}

} // namespace auger
