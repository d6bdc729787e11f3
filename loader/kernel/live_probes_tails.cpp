// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: functions that end by jumps, and the jumps themselves. What is jumped to comes back
// to where the function was called, so that is where their calls end.
#include "bpf/tail_calls.h"
#include "loader/kernel/exit_cookie.h"
#include "loader/kernel/live_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace auger {

namespace {

// Where the function is that jumps.
uint64_t jumping_address(const PlaceMatch& match) {
    return match.site ? match.site->caller_address : match.address;
}

} // namespace

const std::string& LiveProbes::jumping_function(const Probe& probe, const PlaceMatch& match) {
    return match.site && match.site->jump ? match.site->caller : probe.info.text;
}

bool LiveProbes::is_tail_jump(const ExitPlace& exit) {
    return exit.code.kind == ExitKind::jump && !exit.code.to_itself;
}

bool LiveProbes::is_without_tail(const Place& place) {
    return place.match.kind == PlaceKind::function && place.exit == ExitWay::instructions &&
           !place.ends_in_callees && std::ranges::any_of(place.match.exits, is_tail_jump);
}

bool LiveProbes::ends_beside(const PlaceMatch& match, const TargetModule& module) const {
    const auto is_end = [&](const ExitPlace& exit) {
        return std::ranges::find(match.tail_ends, exit.file_offset, &ExitPlace::file_offset) !=
               match.tail_ends.end();
    };
    for (const auto& [id, probe] : probes_)
        for (const Place& place : probe.places)
            if (place.file == module.identity() &&
                std::ranges::any_of(
                    place.ends_in_callees ? place.match.tail_ends : place.match.exits, is_end))
                return true;
    return false;
}

bool LiveProbes::is_called_by_known(const Probe& probe, const PlaceMatch& match,
                                    TailCallers& known) {
    return std::ranges::any_of(
        known.of(jumping_function(probe, match)), [&](const PlaceMatch& caller) {
            return TailCallers::calls(caller, match.module, jumping_address(match));
        });
}

std::string LiveProbes::no_return(const Probe& probe, const Place& place, TailCallers& known) {
    if (!is_without_tail(place) || is_called_by_known(probe, place.match, known))
        return {};
    return "it ends by a jump to another function (a tail call), and no instruction is known that "
           "calls it: so its return is not seen (`exit trampoline` sees it, where nothing in the "
           "program unwinds or switches stacks)";
}

Result<void> LiveProbes::attach_tails(const Probe& probe, std::vector<Place>& places,
                                      std::vector<PlaceGroup>& groups, const TargetView& view,
                                      TailCallers& known) {
    std::vector<PlaceGroup> callers;
    for (Place& place : places) {
        if ((!is_without_tail(place) && !place.jumps()) || place.exit == ExitWay::point)
            continue;
        const uint64_t cookie = specs_.cookie(place.spec);
        // The entry probe may come to be at either.
        std::vector<uint64_t> entries = {place.match.entry.address};
        if (place.match.argument_entry)
            entries.push_back(place.match.argument_entry->address);
        for (const PlaceMatch& caller : known.of(jumping_function(probe, place.match))) {
            if (!TailCallers::calls(caller, place.match.module, jumping_address(place.match)))
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
            const ExitPlace& back = caller.exits.front();
            group->request().entries.add(back.file_offset,
                                         cookie | WIRE_COOKIE_TAIL | cost_bits(back.code));
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
    if (place.exit == ExitWay::point)
        return {};
    if (place.jumps())
        return fmt::format(
            "a tail call: timed from the jump to where {} comes back to one of {} "
            "known call instructions; when it was called by a pointer or a jump, the "
            "call is dropped",
            place.match.site->caller, place.returns);
    if (place.ends_in_callees)
        return "timed until what it jumps to returns, by probes that every call of that hits";
    if (is_without_tail(place))
        return fmt::format("what it jumps to is in its times when one of {} known call "
                           "instructions calls it; calls that come by a pointer or a jump end at "
                           "its own jump",
                           place.returns);
    return {};
}

} // namespace auger
