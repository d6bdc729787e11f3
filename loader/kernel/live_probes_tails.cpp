// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: functions that end by jumps, and the jumps themselves. What is jumped to comes back
// to where the function was called, so that is where their calls end.
#include "bpf/tail_calls.h"
#include "loader/kernel/live_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace auger {

namespace {

// Where the function is that jumps.
uint64_t jumping_function(const PlaceMatch& match) {
    return match.site ? match.site->caller_address : match.address;
}

} // namespace

bool LiveProbes::is_tail_jump(const ExitPlace& exit) {
    return exit.code.kind == ExitKind::jump && !exit.code.to_itself;
}

bool LiveProbes::is_without_tail(const Place& place) {
    return place.match.kind == PlaceKind::function && place.exit == ExitWay::instructions &&
           std::ranges::any_of(place.match.exits, is_tail_jump);
}

const std::vector<PlaceMatch>& LiveProbes::callers_of(const std::string& function,
                                                      const TargetView& view, Callers& known) {
    const auto [found, is_new] = known.try_emplace(function);
    if (!is_new)
        return found->second;
    const ParsedProbe sites = parse_probe(function + "@*");
    if (sites.error)
        return found->second;
    MatchOptions all;
    all.limit = WIRE_MAX_CALLEES;
    all.explain = false;
    auto matches = readers_.find(*sites.pattern, view.files(), all);
    if (!matches)
        return found->second; // nobody calls it but through pointers
    for (PlaceMatch& match : matches->places)
        if (match.site && !match.site->pointer && !match.site->jump && match.site->callee &&
            !match.exits.empty() && !match.in_go)
            found->second.push_back(std::move(match));
    return found->second;
}

bool LiveProbes::calls(const PlaceMatch& caller, size_t module, uint64_t function) {
    return caller.site->callee->module == module && caller.site->callee->address == function;
}

std::string LiveProbes::no_way_back(const PlaceMatch& match, const TargetView& view,
                                    Callers& known) {
    if (!match.site || !match.site->jump)
        return {};
    const CallSite& site = *match.site;
    if (std::ranges::any_of(callers_of(site.caller, view, known), [&](const PlaceMatch& caller) {
            return calls(caller, match.module, site.caller_address);
        }))
        return {};
    return fmt::format(
        "is a tail call: it leaves by a jump, and comes back to where {} was called; "
        "no call instruction is known that calls that (it is called through a "
        "pointer, or reached by a jump itself); time {} itself",
        site.caller, site.function);
}

Result<void> LiveProbes::attach_tails(const Probe& probe, std::vector<Place>& places,
                                      std::vector<PlaceGroup>& groups, const TargetView& view,
                                      Callers& known) {
    std::vector<PlaceGroup> callers;
    for (Place& place : places) {
        if (!is_without_tail(place) && !place.jumps())
            continue;
        const uint64_t cookie = specs_.cookie(place.spec);
        // The entry probe may come to be at either.
        std::vector<uint64_t> entries = {place.match.entry.address};
        if (place.match.argument_entry)
            entries.push_back(place.match.argument_entry->address);
        for (const PlaceMatch& caller :
             callers_of(place.jumps() ? place.match.site->caller : probe.info.text, view, known)) {
            if (!calls(caller, place.match.module, jumping_function(place.match)))
                continue;
            const TargetModule& module = view.modules[caller.module];
            for (const uint64_t entry : entries)
                if (auto entered =
                        pointer_calls_.enter_return(cookie, caller, place.match, entry, view);
                    !entered)
                    return entered;
            auto group = std::ranges::find_if(callers, [&](const PlaceGroup& candidate) {
                return candidate.file() == module.identity();
            });
            if (group == callers.end()) {
                AttachmentRequest attachments = request_for(ExitWay::caller);
                attachments.subject = fmt::format("{} in {}", probe.info.text, module.path);
                callers.emplace_back(module, view, std::move(attachments));
                group = std::prev(callers.end());
            }
            group->request().entries.add(caller.exits.front().file_offset,
                                         cookie | WIRE_COOKIE_TAIL);
            place.returns++;
        }
    }
    for (const Place& place : places)
        if (place.returns > 0)
            if (auto told = specs_.set(place.spec, settings_of(probe, place)); !told)
                return told;
    // The ends first: a call that begins in between is seen whole or not at all.
    groups.insert(groups.begin(), std::make_move_iterator(callers.begin()),
                  std::make_move_iterator(callers.end()));
    return {};
}

std::string LiveProbes::tail_note(const Place& place) {
    if (place.jumps())
        return fmt::format("a tail call: timed from the jump to where {} comes back to one of {} "
                           "known call instructions; when it came by a pointer or a jump, the call "
                           "is not counted",
                           place.match.site->caller, place.returns);
    if (is_without_tail(place))
        return fmt::format("what it jumps to is in its times when one of {} known call "
                           "instructions calls it; calls that come by a pointer or a jump end at "
                           "its own jump",
                           place.returns);
    return {};
}

} // namespace auger
