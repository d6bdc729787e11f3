// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_probes.h"

#include "loader/probes/module_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// From here on it is worth telling what they cost: about 0.1 s each, one after the other.
constexpr size_t many_perf_events = 100;

std::string way_out_of(const PlaceMatch& match, ExitWay exit) {
    if (match.kind == PlaceKind::call_site)
        return call_site_way_out;
    return exit == ExitWay::instructions ? "ret" : "trampoline";
}

std::string stepped(const char* place, ProbeCost cost) {
    return fmt::format("{}{}", place, cost == ProbeCost::single_stepped ? " (stepped)" : "");
}

std::string kind_of(const PlaceMatch& match, ExitWay exit) {
    if (match.kind != PlaceKind::call_site)
        return stepped("entry", match.entry.cost) + "+" + way_out_of(match, exit);
    std::string kind = stepped("call", match.entry.cost);
    for (const ExitPlace& back : match.exits)
        kind += "+" + stepped("return", back.code.cost);
    return kind;
}

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

std::vector<ProbeModule> as_probe_modules(const std::vector<TargetModule>& modules) {
    std::vector<ProbeModule> result;
    for (const TargetModule& module : modules)
        result.push_back({module.index, module.path, module.main_program, module.debug});
    return result;
}

std::string joined(const std::vector<std::string>& notes) {
    return fmt::format("{}", fmt::join(notes, "; "));
}

} // namespace

LiveProbes::LiveProbes(Programs& programs, const Features& features, ModuleCatalogue& catalogue,
                       EventSink& sink, AttachWay way)
    : programs_(programs), features_(features), catalogue_(catalogue), sink_(sink), way_(way),
      specs_(programs) {}

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

SpecSettings LiveProbes::settings_of(const Probe& probe) const {
    SpecSettings settings;
    settings.reruns = probe.reruns;
    ThresholdState state = probe.follower.state();
    if (state.in_force())
        settings.slow_ns = state.value_ns;
    return settings;
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
    request.entries.add(place.match.entry.file_offset, cookie);
    for (const ExitPlace& exit : place.match.exits) {
        uint64_t condition = 0;
        if (exit.code.conditional)
            condition = uint64_t{exit.code.condition} << WIRE_COOKIE_CONDITION_SHIFT |
                        WIRE_COOKIE_CONDITIONAL;
        request.exits.add(exit.file_offset, cookie | condition);
    }
}

Result<void> LiveProbes::attach_group(Group& group, const TargetView& view) {
    group.request.file_fd = group.elf->fd();
    if (!group.per_process) {
        if (!group.attachments.empty())
            return {};
        group.request.pid = 0;
        auto attachment = Attachment::make(programs_, group.request);
        if (!attachment)
            return attachment.error();
        group.attachments.push_back(std::move(*attachment));
        return {};
    }
    for (const TargetModule& module : view.modules) {
        if (module.identity() != group.file)
            continue;
        for (pid_t pid : module.pids) {
            if (std::any_of(group.attachments.begin(), group.attachments.end(),
                            [&](const Attachment& made) { return made.pid() == pid; }))
                continue;
            group.request.pid = pid;
            auto attachment = Attachment::make(programs_, group.request);
            if (!attachment)
                return attachment.error();
            group.attachments.push_back(std::move(*attachment));
        }
    }
    return {};
}

Result<void> LiveProbes::attach_new(Probe& probe, const ProbeMatches& matches,
                                    const TargetView& view, ProbeReport& report) {
    UnwindProof proof{false, ""};
    if (probe.way_out == WayOut::automatic)
        proof = prove(view);

    std::vector<Place> places;
    std::vector<Group> groups;
    std::set<std::string> reasons;
    auto give_up = [&](const Error& error) {
        groups.clear();
        for (const Place& place : places)
            specs_.remove(place.spec);
        return error;
    };
    // With some to spare for those that turn out to be known or impossible.
    if (auto reserved = specs_.reserve(matches.places.size()); !reserved)
        return reserved;
    for (const PlaceMatch& match : matches.places) {
        const TargetModule& module = view.modules[match.module];
        bool known = std::any_of(probe.places.begin(), probe.places.end(), [&](const Place& place) {
            return place.file == module.identity() && place.match.address == match.address;
        });
        if (known)
            continue;
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
        auto spec = specs_.add(settings_of(probe));
        if (!spec)
            return give_up(spec.error());
        places.push_back({*spec, match, module.identity(), choice.exit});

        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& candidate) {
            return candidate.file == module.identity() && candidate.request.exit == choice.exit;
        });
        if (group == groups.end()) {
            Group fresh;
            fresh.file = module.identity();
            fresh.elf = module.file;
            fresh.request = request_for(choice.exit);
            fresh.request.subject = fmt::format("{} in {}", probe.info.text, module.path);
            // A library that others map too is probed in the target's processes only: a probe costs
            // whoever runs into it. A program of the target's own is probed as a file, so that even
            // a child's first instructions are covered.
            fresh.per_process = !view.everything && !module.pids.empty() && !module.main_program &&
                                ModuleCatalogue::mapped_elsewhere(module, view.pids);
            groups.push_back(std::move(fresh));
            group = std::prev(groups.end());
        }
        add_sites(group->request, places.back(), specs_.cookie(*spec));
    }
    for (Group& group : groups) {
        if (auto attached = attach_group(group, view); !attached)
            return give_up(attached.error());
    }

    for (Place& place : places) {
        const TargetModule& module = view.modules[place.match.module];
        ProbePlace shown;
        shown.spec = place.spec;
        shown.function = place.match.name;
        shown.module = module.path;
        shown.offset = place.match.file_offset;
        shown.kind = kind_of(place.match, place.exit);
        shown.note = joined(place.match.notes);
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
    for (Group& group : groups) {
        for (const Attachment& attachment : group.attachments)
            perf_events += way_ == AttachWay::perf ? attachment.links() : 0;
        probe.groups.push_back(std::move(group));
    }
    if (perf_events >= many_perf_events)
        report.notes.push_back(fmt::format("{} perf events: the kernel takes about {} s to remove "
                                           "them, for which the end of auger waits too",
                                           perf_events, perf_events / 10));
    report.notes.insert(report.notes.end(), reasons.begin(), reasons.end());
    return {};
}

Result<ProbeReport> LiveProbes::add(const ProbeRequest& request, const TargetView& view) {
    ParsedProbe parsed = parse_probe(request.text);
    if (parsed.error)
        return parsed.error->error;
    ProbeInfo info;
    info.id = request.id;
    info.text = request.text;
    info.slow = request.slow;
    Probe probe{
        std::move(info), *parsed.pattern, way_out_, ThresholdFollower(request.slow), {}, {}, false};
    ProbeReport report;
    std::vector<ProbeModule> modules = as_probe_modules(view.modules);
    auto matches = match_probe(probe.pattern, modules);
    if (matches) {
        for (const SkippedPlace& skipped : matches->skipped)
            report.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
        report.notes = matches->notes;
        if (auto attached = attach_new(probe, *matches, view, report); !attached)
            return attached.error();
        if (report.places.empty())
            return Error{"time", request.text, "nothing that matches can be timed",
                         joined(report.skipped)};
    } else {
        bool library_is_there =
            probe.pattern.library.empty() ||
            std::any_of(modules.begin(), modules.end(), [&](const ProbeModule& module) {
                return module_matches(probe.pattern.library, module.index->file(), module.path);
            });
        // A library that is not there may still be loaded; a function that is not in it will not
        // come.
        if (library_is_there && !modules.empty())
            return matches.error();
        report.pending = true;
        report.notes.push_back(
            probe.pattern.library.empty()
                ? "waits for a program that has it"
                : fmt::format("waits for {} to be loaded", probe.pattern.library));
    }
    sink_.on_probe(probe.info);
    probes_.emplace(request.id, std::move(probe));
    return report;
}

Result<CallSites> LiveProbes::find_call_sites(const std::string& function, const TargetView& view) {
    ParsedProbe parsed = parse_probe(function + "@*");
    if (parsed.error)
        return parsed.error->error;
    auto matches = match_probe(*parsed.pattern, as_probe_modules(view.modules));
    if (!matches)
        return matches.error();
    CallSites found;
    for (const PlaceMatch& match : matches->places)
        found.sites.push_back({match.site->function, match.site->caller, match.site->file,
                               match.site->line, view.modules[match.module].path, match.file_offset,
                               kind_of(match, ExitWay::instructions)});
    for (const SkippedPlace& skipped : matches->skipped)
        found.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
    return found;
}

Result<void> LiveProbes::remove(ProbeId id) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{"delete probe", fmt::format("#{}", id.value), "there is no such probe",
                     "`probes` lists them"};
    Probe& probe = found->second;
    // First the specs: a probe that fires while it is being detached does nothing.
    for (const Place& place : probe.places) {
        specs_.remove(place.spec);
        spec_places_.erase(place.spec);
    }
    probe.info.deleted = true;
    sink_.on_probe(probe.info);
    probes_.erase(found);
    return {};
}

Result<void> LiveProbes::set_slow(ProbeId id, const Threshold& threshold) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{"set threshold", fmt::format("#{}", id.value), "there is no such probe",
                     "`probes` lists them"};
    Probe& probe = found->second;
    probe.follower.set_threshold(threshold);
    probe.info.slow = threshold;
    publish(probe);
    sink_.on_probe(probe.info);
    return {};
}

void LiveProbes::publish(const Probe& probe) {
    SpecSettings settings = settings_of(probe);
    for (const Place& place : probe.places) {
        settings.second = place.second;
        (void)specs_.set(place.spec, settings);
    }
}

// What was proven holds no longer: exit instructions take over from the return probes. The new
// probes are attached beside the old ones and put in force by one store, so that no call is missed
// or counted twice; calls that are open at that moment end at the exit instructions.
void LiveProbes::fall_back_to_exits(Probe& probe, const TargetView& view, const std::string& reason,
                                    uint64_t now_ns) {
    for (Group& group : probe.groups) {
        if (group.request.exit == ExitWay::instructions)
            continue;
        std::vector<Place*> places;
        for (Place& place : probe.places) {
            if (place.file == group.file && place.exit == group.request.exit)
                places.push_back(&place);
        }
        Group safe;
        safe.file = group.file;
        safe.elf = group.elf;
        safe.per_process = group.per_process;
        safe.request = request_for(ExitWay::instructions);
        safe.request.subject = group.request.subject;
        for (const Place* place : places)
            add_sites(safe.request, *place, specs_.cookie(place->spec) | WIRE_COOKIE_SECOND);
        if (auto attached = attach_group(safe, view); !attached)
            sink_.on_notice(now_ns, fmt::format("{} is no longer timed: {}", probe.info.text,
                                                attached.error().message()));
        for (Place* place : places) {
            place->exit = ExitWay::instructions;
            place->second = true;
        }
        publish(probe);
        group = std::move(safe);
    }
    sink_.on_notice(now_ns, fmt::format("{}: exit instructions instead of the return trampoline, "
                                        "because {}",
                                        probe.info.text, reason));
}

void LiveProbes::update(const TargetView& view, uint64_t now_ns) {
    std::vector<ProbeModule> modules = as_probe_modules(view.modules);
    std::optional<UnwindProof> proof;
    for (auto& [id, probe] : probes_) {
        bool automatic_trampoline =
            probe.way_out == WayOut::automatic &&
            std::any_of(probe.groups.begin(), probe.groups.end(), [](const Group& group) {
                return group.request.exit != ExitWay::instructions;
            });
        if (automatic_trampoline) {
            if (!proof)
                proof = prove(view);
            if (!proof->proven && !view.pids.empty())
                fall_back_to_exits(probe, view, proof->reason, now_ns);
        }
        for (Group& group : probe.groups) {
            if (auto attached = attach_group(group, view); !attached)
                sink_.on_notice(now_ns, attached.error().message());
        }
        if (!probe.places.empty() && probe.pattern.library.empty() &&
            std::all_of(view.modules.begin(), view.modules.end(), [&](const TargetModule& module) {
                return !module.main_program ||
                       std::any_of(
                           probe.places.begin(), probe.places.end(),
                           [&](const Place& place) { return place.file == module.identity(); });
            }))
            continue;
        auto matches = match_probe(probe.pattern, modules);
        if (!matches)
            continue;
        ProbeReport report;
        if (auto attached = attach_new(probe, *matches, view, report); !attached) {
            sink_.on_notice(now_ns, attached.error().message());
            continue;
        }
        if (report.places.empty())
            continue;
        sink_.on_probe(probe.info);
        sink_.on_notice(now_ns,
                        fmt::format("{}: now timed in {} ({} more function{})", probe.info.text,
                                    report.places.front().module, report.places.size(),
                                    report.places.size() == 1 ? "" : "s"));
    }
}

void LiveProbes::forget_process(pid_t pid) {
    for (auto& [id, probe] : probes_) {
        for (Group& group : probe.groups) {
            if (group.per_process)
                std::erase_if(group.attachments, [&](const Attachment& attachment) {
                    return attachment.pid() == pid;
                });
        }
    }
}

void LiveProbes::read_statistics(uint64_t now_ns) {
    for (auto& [id, probe] : probes_) {
        bool moved = false;
        for (const Place& place : probe.places) {
            if (auto event = specs_.read(place.spec, now_ns)) {
                moved |= probe.follower.on_stats(*event);
                sink_.on_stats(*event);
            }
        }
        if (moved)
            publish(probe);
    }
}

std::optional<ProbeId> LiveProbes::probe_of(SpecId spec) const {
    auto found = spec_places_.find(spec);
    return found == spec_places_.end() ? std::nullopt : std::optional(found->second.first);
}

const LiveProbes::FunctionPlace* LiveProbes::place_of(SpecId spec) const {
    auto found = spec_places_.find(spec);
    return found == spec_places_.end() ? nullptr : &found->second.second;
}

uint64_t LiveProbes::slow_threshold_ns(SpecId spec) const {
    auto found = spec_places_.find(spec);
    if (found == spec_places_.end())
        return 0;
    auto probe = probes_.find(found->second.first);
    return probe == probes_.end() ? 0 : probe->second.follower.state().value_ns;
}

std::vector<uint64_t> LiveProbes::link_ids() const {
    std::vector<uint64_t> ids;
    for (const auto& [id, probe] : probes_) {
        for (const Group& group : probe.groups) {
            for (const Attachment& attachment : group.attachments) {
                auto some = attachment.link_ids();
                ids.insert(ids.end(), some.begin(), some.end());
            }
        }
    }
    return ids;
}

} // namespace auger
