// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: attaching. Which way out, which places, and how one set of probes follows another.
#include "loader/kernel/live_probes.h"

#include "bpf/tail_calls.h"
#include "loader/kernel/exit_cookie.h"
#include "loader/kernel/go_calls.h"
#include "loader/kernel/place_kind.h"
#include "loader/probes/program_compiler.h"
#include "loader/stream/observed_exit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

namespace auger {

namespace {

// From here on it is worth telling what they cost: about 0.1 s each, one after the other.
constexpr size_t many_perf_events = 100;

} // namespace

AttachmentRequest LiveProbes::request_for(ExitWay exit) const {
    AttachmentRequest request;
    request.way = way_;
    request.exit = exit;
    request.guard = &guard_;
    return request;
}

void LiveProbes::add_sites(AttachmentRequest& request, const Place& place, uint64_t cookie) {
    if (place.jumps())
        cookie |= WIRE_COOKIE_TAIL;
    else if (place.match.site)
        cookie |= WIRE_COOKIE_CALL_SITE | uint64_t{place.match.site->length}
                                              << WIRE_COOKIE_CALL_LENGTH_SHIFT;
    if (place.through_pointer())
        cookie |= WIRE_COOKIE_POINTER;
    const EntryPlace& entry = place.entry();
    uint64_t entry_cookie = cookie | condition_bits(entry.repeats);
    for (const ExitPlace& exit : place.exits()) {
        // Return probes see those, too.
        if (request.exit == ExitWay::instructions && exit.file_offset == entry.file_offset) {
            entry_cookie |= condition_bits(exit.code.condition);
            request.short_calls.add(exit.file_offset, cookie | exit_bits(exit.code));
            continue;
        }
        request.exits.add(exit.file_offset, cookie | exit_bits(exit.code) |
                                                (is_tail_jump(exit) ? WIRE_COOKIE_TAIL : 0));
    }
    if (place.ends_in_callees)
        for (const ExitPlace& exit : place.match.tail_ends)
            request.exits.add(exit.file_offset, cookie | exit_bits(exit.code));
    request.entries.add(entry.file_offset, entry_cookie,
                        place.match.usdt ? place.match.usdt->semaphore : 0);
}

Result<void> LiveProbes::attach_new(Probe& probe, const ProbeMatches& matches,
                                    const TargetView& view, ProbeReport& report) {
    if (probe.pattern.tracepoint())
        return attach_tracepoints(probe, matches, view, report);
    std::vector<Place> places;
    std::vector<PlaceGroup> groups;
    TailCallers callers(readers_, view);
    std::map<size_t, GoPlaces> go_files; // by module
    auto give_up = [&](const Error& error) {
        groups.clear();
        // The last one first: nobody was told of their ids, which must not be missing among those
        // that recordings define in their order.
        for (const Place& place : std::views::reverse(places)) {
            pointer_calls_.remove(specs_.cookie(place.spec));
            call_programs_.remove(place.spec);
            specs_.retract(place.spec);
        }
        return error;
    };
    // The function may have come with a library.
    for (const PlaceMatch& match : matches.places)
        if (const Place* known = find_place(probe, match, view.modules[match.module]);
            known && known->through_pointer() && match.site && match.site->pointer)
            if (auto entered = pointer_calls_.enter(specs_.cookie(known->spec), match, view);
                !entered)
                return entered;
    auto chosen = choose_places(probe, matches, view, callers, report);
    if (!chosen)
        return chosen.error();
    if (auto reserved = specs_.reserve(chosen->places.size()); !reserved)
        return reserved;
    for (auto& [fresh, program, go] : chosen->places) {
        const PlaceMatch& match = fresh.match;
        const TargetModule& module = view.modules[match.module];
        auto spec = specs_.add(settings_of(probe, fresh));
        if (!spec)
            return give_up(spec.error());
        fresh.spec = *spec;
        places.push_back(fresh);
        if (fresh.exit == ExitWay::go)
            if (auto entered = enter_go_runtime(programs_, specs_.cookie(*spec), go, module.path);
                !entered)
                return give_up(entered.error());
        if (fresh.through_pointer())
            if (auto entered = pointer_calls_.enter(specs_.cookie(*spec), match, view); !entered)
                return give_up(entered.error());
        if (auto asked = ask(probe, places.back(), std::move(program)); !asked)
            return give_up(asked.error());

        auto group = std::ranges::find_if(groups, [&](const PlaceGroup& candidate) {
            return candidate.file() == module.identity() && candidate.request().exit == fresh.exit;
        });
        if (group == groups.end()) {
            AttachmentRequest attachments = request_for(fresh.exit);
            attachments.subject = fmt::format("{} in {}", probe.info.text, module.path);
            if (fresh.exit == ExitWay::go) {
                add_goroutine_ends(attachments, go);
                go_files[match.module] = go;
            }
            groups.emplace_back(module, view, std::move(attachments));
            group = std::prev(groups.end());
        }
        add_sites(group->request(), places.back(), specs_.cookie(*spec));
    }
    if (auto attached = attach_tails(probe, places, groups, view, callers); !attached)
        return give_up(attached.error());
    // What was not found out then is not so.
    if (readers_.take_interrupted())
        return give_up(Error{"time", probe.info.text, "interrupted", {}});
    for (PlaceGroup& group : groups) {
        if (auto attached = group.attach(programs_, view); !attached)
            return give_up(attached.error());
    }
    for (const auto& [module, go] : go_files)
        go_switches_.add(view.modules[module], view, go, request_for(ExitWay::go_switches));

    for (Place& place : places) {
        const TargetModule& module = view.modules[place.match.module];
        if (std::string note = tail_note(place); !note.empty())
            place.match.notes.push_back(std::move(note));
        report.places.push_back(shown_place(place, module.path));
        if (probe.point) {
            ProbePlace& shown = report.places.back();
            shown.function =
                fmt::format("{} {}", role_text(probe.point->point.role), shown.function);
            sink_.on_spec(place.spec, {probe.point->span, shown.function, shown.module,
                                       shown.offset, ObservedExit::Kind::span_point});
            probe.info.specs.push_back(place.spec);
            probe.places.push_back(std::move(place));
            continue;
        }
        place.told = observed_exit(place);
        sink_.on_spec(place.spec, {probe.info.id, place.match.name, module.path,
                                   place.match.file_offset, place.told});
        probe.info.specs.push_back(place.spec);
        if (!has_duration(place.match.kind)) {
            probe.places.push_back(std::move(place));
            continue;
        }
        FunctionPlace function{module.identity(), place.match.address};
        if (place.match.site && place.match.site->callee) {
            const CallSite::Callee& callee = *place.match.site->callee;
            const TargetModule& holder = view.modules[callee.module];
            function = {holder.identity(), callee.address};
        }
        if (place.match.site && !place.match.exits.empty())
            function.behind_return = place.match.exits.front().code.address -
                                     (place.match.address + place.match.site->length);
        functions_.add(place.spec, probe.info.id, function);
        probe.places.push_back(std::move(place));
    }
    size_t perf_events = 0;
    for (PlaceGroup& group : groups) {
        perf_events += way_ == AttachWay::perf ? group.links() : 0;
        if (!group.leased())
            report.notes.push_back(
                fmt::format("{} cannot be leased (CAP_LEASE, and a local file system): replace it "
                            "only by renaming, as what is written into it meets its probes",
                            group.path()));
        probe.groups.push_back(std::move(group));
    }
    if (perf_events >= many_perf_events)
        report.notes.push_back(fmt::format("{} perf events: the kernel takes about {} s to remove "
                                           "them, for which the end of auger waits too",
                                           perf_events, perf_events / 10));
    report.notes.insert(report.notes.end(), chosen->reasons.begin(), chosen->reasons.end());
    tell_being_read(chosen->being_read, view, report.notes);
    probe.being_read = !chosen->being_read.empty();
    return {};
}

const LiveProbes::Place* LiveProbes::find_place(const Probe& probe, const PlaceMatch& match,
                                                const TargetModule& module) {
    const auto known = std::ranges::find_if(probe.places, [&](const Place& place) {
        return place.file == module.identity() && place.match.address == match.address;
    });
    return known == probe.places.end() ? nullptr : &*known;
}

void LiveProbes::tell_being_read(const std::set<size_t>& modules, const TargetView& view,
                                 std::vector<std::string>& notes) {
    for (const size_t module : modules)
        notes.push_back(
            fmt::format("{} is still being read; what matches there is timed when that is done",
                        view.modules[module].file->path_and_owner()));
}

ProbePlace LiveProbes::shown_place(const Place& place, const std::string& module) {
    ProbePlace shown;
    shown.spec = place.spec;
    shown.function = place.match.name;
    shown.module = module;
    shown.offset = place.match.file_offset;
    shown.kind = place_kind(place.match, place.exit, place.exits());
    shown.note = fmt::format("{}", fmt::join(place.match.notes, "; "));
    return shown;
}

Result<void> LiveProbes::renew_group(Probe& probe, PlaceGroup& group, ExitWay exit,
                                     const TargetView& view, Transaction& edit) {
    std::vector<Place*> places;
    for (Place& place : probe.places) {
        if (place.file == group.file() && place.exit == group.request().exit)
            places.push_back(&place);
    }
    AttachmentRequest attachments = request_for(exit);
    attachments.subject = group.request().subject;
    attachments.ends = group.request().ends;
    PlaceGroup fresh(group, std::move(attachments));
    for (const Place* place : places)
        add_sites(fresh.request(), *place,
                  specs_.cookie(place->spec) | (place->second ? 0 : WIRE_COOKIE_SECOND));
    if (auto attached = fresh.attach(programs_, view); !attached)
        return attached;
    for (Place* place : places) {
        edit.restore(place->exit);
        edit.restore(place->second);
        place->exit = exit;
        place->second = !place->second;
    }
    auto former = std::make_shared<PlaceGroup>(std::exchange(group, std::move(fresh)));
    edit.on_rollback([&group, former] { group = std::move(*former); });
    if (!probe.point)
        edit.on_commit([this, &probe] { tell_exits(probe); });
    return {};
}

ObservedExit LiveProbes::observed_exit(const Place& place) {
    if (place.ends_in_callees)
        return {ObservedExit::Kind::in_callees,
                fmt::format("{}", fmt::join(place.match.jumps_to, ", "))};
    if (!is_without_tail(place))
        return way_out_of(place.match, place.exit, place.exits());
    return {place.returns > 0 ? ObservedExit::Kind::in_callers : ObservedExit::Kind::without_tail,
            fmt::format("{}", fmt::join(place.match.jumps_to, ", "))};
}

void LiveProbes::tell_exits(Probe& probe) {
    for (Place& place : probe.places)
        if (ObservedExit now = observed_exit(place); now != place.told) {
            place.told = std::move(now);
            sink_.on_exit_changed(place.spec, place.told);
        }
}

Result<void> LiveProbes::renew_groups_of(Probe& probe, const std::vector<const Place*>& moved,
                                         const TargetView& view, Transaction& edit) {
    for (PlaceGroup& group : probe.groups) {
        const bool concerned = std::ranges::any_of(moved, [&](const Place* place) {
            return group.file() == place->file && group.request().exit == place->exit;
        });
        if (!concerned)
            continue;
        if (auto renewed = renew_group(probe, group, group.request().exit, view, edit); !renewed)
            return renewed;
    }
    return {};
}

// What was proven holds no longer: exit instructions take over from the return probes. Calls that
// are open at that moment end at the exit instructions.
void LiveProbes::fall_back_to_exits(Probe& probe, const TargetView& view, const std::string& reason,
                                    uint64_t now_ns) {
    std::erase_if(probe.groups, [&](PlaceGroup& group) {
        if (!is_trampoline(group.request().exit))
            return false;
        Transaction edit;
        auto renewed = renew_group(probe, group, ExitWay::instructions, view, edit);
        if (renewed)
            renewed = publish(probe, edit);
        if (renewed)
            edit.commit();
        else
            sink_.on_notice(now_ns, fmt::format("{} is no longer timed: {}", probe.info.text,
                                                renewed.error().message()));
        return !renewed.ok();
    });
    sink_.on_notice(now_ns, fmt::format("{}: exit instructions instead of the uretprobe, "
                                        "because {}",
                                        probe.info.text, reason));
}

void LiveProbes::withdraw(FileIdentity file, const std::string& why, uint64_t now_ns) {
    go_switches_.withdraw(file);
    without_goroutines_.erase(file);
    for (auto& [id, probe] : probes_) {
        const size_t gone = std::erase_if(probe.groups, [&](const PlaceGroup& group) {
            return !group.per_process() && group.file() == file;
        });
        if (gone > 0)
            sink_.on_notice(now_ns, fmt::format("{} is no longer timed: {}", probe.info.text, why));
    }
}

} // namespace auger
