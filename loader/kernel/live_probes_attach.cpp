// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: attaching. Which way out, which places, and how one set of probes follows another.
#include "loader/kernel/live_probes.h"

#include "loader/kernel/place_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// From here on it is worth telling what they cost: about 0.1 s each, one after the other.
constexpr size_t many_perf_events = 100;

// Why a place's executions have no duration; empty when they have one.
std::string no_duration(PlaceKind kind) {
    switch (kind) {
    case PlaceKind::instruction:
        return "a place inside a function has no end, so it cannot be timed";
    case PlaceKind::line:
        return "a line has no duration; time the function that holds it, or a call that it makes "
               "(FUNCTION@FILE:LINE)";
    case PlaceKind::function:
    case PlaceKind::call_site:
        break;
    }
    return {};
}

} // namespace

LiveProbes::Choice LiveProbes::choose_exit(const PlaceMatch& match, WayOut way_out,
                                           const UnwindProof& proof) const {
    bool session = way_ == AttachWay::multi && features_.uprobe_session;
    ExitWay cheap = session ? ExitWay::session : ExitWay::return_probe;
    // A call site's probes sit in the caller and have nothing to do with the callee's exits.
    if (match.kind == PlaceKind::call_site)
        return {ExitWay::instructions, ""};
    switch (way_out) {
    case WayOut::ret:
        return {ExitWay::instructions, ""};
    case WayOut::trampoline:
        return {cheap, features_.stacks_under_return
                           ? ""
                           : "it was asked for; on this kernel stacks show it in place of the "
                             "function's caller"};
    case WayOut::automatic:
        break;
    }
    if (!match.no_return_probe.empty())
        return {ExitWay::instructions, match.no_return_probe};
    if (!features_.stacks_under_return)
        return {ExitWay::instructions, "this kernel breaks stacks under return probes"};
    if (!proof.proven)
        return {ExitWay::instructions, proof.reason};
    return {cheap, "nothing that the target maps can unwind or swap stacks"};
}

UnwindProof LiveProbes::prove(const TargetView& view) const {
    if (view.everything)
        return {false, "every process is observed, and what they will map is not known"};
    if (view.started)
        return catalogue_.prove_no_unwinding_in(view.pids);
    std::vector<MappedModule> modules;
    for (const TargetModule& module : view.modules)
        modules.push_back({module.file, module.path, module.main_program});
    if (modules.empty())
        return {false, "what will be mapped is not known"};
    return prove_no_unwinding(modules);
}

AttachmentRequest LiveProbes::request_for(ExitWay exit) const {
    AttachmentRequest request;
    request.way = way_;
    request.exit = exit;
    return request;
}

void LiveProbes::add_sites(AttachmentRequest& request, const Place& place, uint64_t cookie) {
    if (place.match.site)
        cookie |= WIRE_COOKIE_CALL_SITE | uint64_t{place.match.site->length}
                                              << WIRE_COOKIE_CALL_LENGTH_SHIFT;
    if (place.through_pointer())
        cookie |= WIRE_COOKIE_POINTER;
    const EntryPlace& entry = place.at_arguments ? *place.match.argument_entry : place.match.entry;
    request.entries.add(entry.file_offset, cookie);
    for (const ExitPlace& exit : place.match.exits) {
        uint64_t condition = 0;
        if (exit.code.conditional)
            condition = uint64_t{exit.code.condition} << WIRE_COOKIE_CONDITION_SHIFT |
                        WIRE_COOKIE_CONDITIONAL;
        request.exits.add(exit.file_offset, cookie | condition);
    }
}

Result<void> LiveProbes::attach_new(Probe& probe, const ProbeMatches& matches,
                                    const TargetView& view, ProbeReport& report) {
    UnwindProof proof{false, ""};
    if (probe.way_out == WayOut::automatic)
        proof = prove(view);

    std::vector<Place> places;
    std::vector<PlaceGroup> groups;
    std::set<std::string> reasons;
    auto give_up = [&](const Error& error) {
        groups.clear();
        for (const Place& place : places)
            remove_spec(place.spec);
        return error;
    };
    // With some to spare for those that turn out to be known or impossible.
    if (auto reserved = specs_.reserve(matches.places.size()); !reserved)
        return reserved;
    ProgramCompiler compiler(request_for(probe));
    for (const PlaceMatch& match : matches.places) {
        const TargetModule& module = view.modules[match.module];
        const auto known = std::ranges::find_if(probe.places, [&](const Place& place) {
            return place.file == module.identity() && place.match.address == match.address;
        });
        if (known != probe.places.end()) {
            // The function may have come with a library.
            if (known->through_pointer())
                if (auto entered = pointer_calls_.enter(specs_.cookie(known->spec), match, view);
                    !entered)
                    return give_up(entered.error());
            continue;
        }
        if (const std::string why = no_duration(match.kind); !why.empty()) {
            report.skipped.push_back(fmt::format("{}: {}", match.name, why));
            continue;
        }
        if (probe.way_out == WayOut::trampoline && !match.no_return_probe.empty()) {
            report.skipped.push_back(fmt::format("{}: no return probe here: {}; `exit ret` works",
                                                 match.name, match.no_return_probe));
            continue;
        }
        Choice choice = choose_exit(match, probe.way_out, proof);
        bool unknown_condition =
            std::any_of(match.exits.begin(), match.exits.end(), [](const ExitPlace& exit) {
                return exit.code.conditional && exit.code.condition >= Instruction::no_condition;
            });
        if (choice.exit == ExitWay::instructions && unknown_condition) {
            report.skipped.push_back(match.name + ": leaves by a loop or jrcxz instruction");
            continue;
        }
        if (!choice.why.empty())
            reasons.insert(fmt::format("way out: {}, because {}",
                                       choice.exit == ExitWay::instructions ? "exit instructions"
                                                                            : "return trampoline",
                                       choice.why));
        probe.reruns = module.file->is_go() && match.kind == PlaceKind::function;
        Place fresh{{}, match, module.identity(), choice.exit};
        fresh.values = values_of(match, view);
        auto program = compiler.compile(fresh.values);
        if (!program)
            return give_up(program.error());
        if (*program && !can_read(**program, fresh))
            return give_up(overwritten(match));
        fresh.at_arguments = *program && needs_other_entry(**program, fresh);
        auto spec = specs_.add(settings_of(probe, fresh));
        if (!spec)
            return give_up(spec.error());
        fresh.spec = *spec;
        places.push_back(std::move(fresh));
        if (places.back().through_pointer())
            if (auto entered = pointer_calls_.enter(specs_.cookie(*spec), match, view); !entered)
                return give_up(entered.error());
        if (auto asked = ask(probe, places.back(), std::move(*program)); !asked)
            return give_up(asked.error());

        auto group = std::ranges::find_if(groups, [&](const PlaceGroup& candidate) {
            return candidate.file() == module.identity() && candidate.request().exit == choice.exit;
        });
        if (group == groups.end()) {
            AttachmentRequest attachments = request_for(choice.exit);
            attachments.subject = fmt::format("{} in {}", probe.info.text, module.path);
            groups.emplace_back(module, view, std::move(attachments));
            group = std::prev(groups.end());
        }
        add_sites(group->request(), places.back(), specs_.cookie(*spec));
    }
    for (PlaceGroup& group : groups) {
        if (auto attached = group.attach(programs_, view); !attached)
            return give_up(attached.error());
    }

    for (Place& place : places) {
        const TargetModule& module = view.modules[place.match.module];
        ProbePlace shown;
        shown.spec = place.spec;
        shown.function = place.match.name;
        shown.module = module.path;
        shown.offset = place.match.file_offset;
        shown.kind = place_kind(place.match, place.exit);
        shown.note = fmt::format("{}", fmt::join(place.match.notes, "; "));
        report.places.push_back(shown);
        sink_.on_spec(place.spec, {probe.info.id, place.match.name, module.path,
                                   place.match.file_offset, way_out_of(place.match, place.exit)});
        probe.info.specs.push_back(place.spec);
        FunctionPlace function{module.identity(), place.match.address};
        if (place.match.site && place.match.site->callee) {
            const CallSite::Callee& callee = *place.match.site->callee;
            const TargetModule& holder = view.modules[callee.module];
            function = {holder.identity(), callee.address};
        }
        if (place.match.site && !place.match.exits.empty())
            function.behind_return = place.match.exits.front().code.address -
                                     (place.match.address + place.match.site->length);
        spec_places_[place.spec] = {probe.info.id, std::move(function)};
        probe.places.push_back(std::move(place));
    }
    size_t perf_events = 0;
    for (PlaceGroup& group : groups) {
        perf_events += way_ == AttachWay::perf ? group.links() : 0;
        probe.groups.push_back(std::move(group));
    }
    if (perf_events >= many_perf_events)
        report.notes.push_back(fmt::format("{} perf events: the kernel takes about {} s to remove "
                                           "them, for which the end of auger waits too",
                                           perf_events, perf_events / 10));
    report.notes.insert(report.notes.end(), reasons.begin(), reasons.end());
    return {};
}

Result<void> LiveProbes::renew_group(Probe& probe, PlaceGroup& group, ExitWay exit,
                                     const TargetView& view) {
    std::vector<Place*> places;
    for (Place& place : probe.places) {
        if (place.file == group.file() && place.exit == group.request().exit)
            places.push_back(&place);
    }
    AttachmentRequest attachments = request_for(exit);
    attachments.subject = group.request().subject;
    PlaceGroup fresh(group, std::move(attachments));
    for (const Place* place : places)
        add_sites(fresh.request(), *place,
                  specs_.cookie(place->spec) | (place->second ? 0 : WIRE_COOKIE_SECOND));
    if (auto attached = fresh.attach(programs_, view); !attached)
        return attached;
    for (Place* place : places) {
        place->exit = exit;
        place->second = !place->second;
    }
    publish(probe);
    group = std::move(fresh);
    return {};
}

// What was proven holds no longer: exit instructions take over from the return probes. Calls that
// are open at that moment end at the exit instructions.
void LiveProbes::fall_back_to_exits(Probe& probe, const TargetView& view, const std::string& reason,
                                    uint64_t now_ns) {
    std::erase_if(probe.groups, [&](PlaceGroup& group) {
        if (group.request().exit == ExitWay::instructions)
            return false;
        auto renewed = renew_group(probe, group, ExitWay::instructions, view);
        if (!renewed)
            sink_.on_notice(now_ns, fmt::format("{} is no longer timed: {}", probe.info.text,
                                                renewed.error().message()));
        return !renewed.ok();
    });
    sink_.on_notice(now_ns, fmt::format("{}: exit instructions instead of the return trampoline, "
                                        "because {}",
                                        probe.info.text, reason));
}

} // namespace auger
