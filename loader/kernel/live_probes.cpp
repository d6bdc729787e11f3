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

// Values that are in registers when the call begins.
bool reads_arguments(const CallProgram& program) {
    return std::any_of(
        program.wire.fetch, program.wire.fetch + program.wire.fetches, [](const wire_fetch& fetch) {
            return fetch.base == WIRE_BASE_REGISTER && !(fetch.flags & WIRE_FETCH_AT_END);
        });
}

Error overwritten(const PlaceMatch& match) {
    return Error{"read arguments", match.name,
                 "they are overwritten before the first instruction that can be probed",
                 "its result and errno can be read"};
}

std::string joined(const std::vector<std::string>& notes) {
    return fmt::format("{}", fmt::join(notes, "; "));
}

} // namespace

LiveProbes::LiveProbes(Programs& programs, const Features& features, ModuleCatalogue& catalogue,
                       EventSink& sink, AttachWay way)
    : programs_(programs), features_(features), catalogue_(catalogue), sink_(sink), way_(way),
      specs_(programs), call_programs_(programs) {}

bool LiveProbes::can_read(const CallProgram& program, const Place& place) {
    return place.match.kind != PlaceKind::function || place.match.argument_entry ||
           !reads_arguments(program);
}

bool LiveProbes::needs_other_entry(const CallProgram& program, const Place& place) {
    return place.match.kind == PlaceKind::function && !place.at_arguments &&
           reads_arguments(program) &&
           place.match.argument_entry->address != place.match.entry.address;
}

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

SpecSettings LiveProbes::settings_of(const Probe& probe, const Place& place) const {
    SpecSettings settings;
    settings.reruns = probe.reruns;
    settings.second = place.second;
    settings.program = place.program;
    settings.terms = probe.terms;
    ThresholdState state = probe.follower.state();
    if (state.in_force())
        settings.slow_ns = state.value_ns;
    return settings;
}

ValueScope LiveProbes::values_of(const PlaceMatch& match, const TargetView& view) const {
    ValueScope scope;
    scope.pids = view.started ? view.pids : std::vector<pid_t>();
    if (!match.site) {
        scope.function = match.name;
        scope.file = view.modules[match.module].file;
        scope.debug = view.modules[match.module].debug;
        scope.address = match.address;
        return scope;
    }
    scope.function = match.site->function;
    if (match.site->callee) {
        const TargetModule& holder = view.modules[match.site->callee->module];
        scope.file = holder.file;
        scope.debug = holder.debug;
        scope.address = match.site->callee->address;
    }
    return scope;
}

ProgramRequest LiveProbes::request_for(const Probe& probe) const {
    ProgramRequest request;
    request.conditions = probe.info.conditions;
    request.traces_slow = probe.info.slow.kind != Threshold::Kind::none;
    if (split_ && split_->probe == probe.info.id) {
        request.split_if = split_->predicate;
        request.split_by = split_->label;
        if (split_->mark)
            request.split_mark = static_cast<uint8_t>(split_->mark->bit);
    }
    return request;
}

Result<void> LiveProbes::set_programs(Probe& probe, const TargetView& view) {
    ProgramCompiler compiler(request_for(probe));
    std::vector<std::optional<CallProgram>> programs;
    for (const Place& place : probe.places) {
        auto program = compiler.compile(place.values);
        if (!program)
            return program.error();
        if (*program && !can_read(**program, place))
            return overwritten(place.match);
        programs.push_back(std::move(*program));
    }
    std::vector<PlaceGroup*> old;
    for (size_t i = 0; i < programs.size(); i++) {
        Place& place = probe.places[i];
        // The flags of those that have none any more go first, and of those that have one come
        // last.
        place.program &= programs[i].has_value();
        if (!programs[i] || !needs_other_entry(*programs[i], place))
            continue;
        place.at_arguments = true;
        for (PlaceGroup& group : probe.groups) {
            if (group.file() == place.file && group.request().exit == place.exit &&
                std::ranges::find(old, &group) == old.end())
                old.push_back(&group);
        }
    }
    for (PlaceGroup* group : old) {
        if (auto renewed = renew_group(probe, *group, group->request().exit, view); !renewed)
            return renewed;
    }
    for (size_t i = 0; i < programs.size(); i++) {
        Place& place = probe.places[i];
        auto entered = call_programs_.enter(place.spec, std::move(programs[i]));
        if (!entered)
            return entered.error();
        place.program = *entered;
    }
    publish(probe);
    return {};
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

Result<ProbeReport> LiveProbes::add(const ProbeRequest& request, const TargetView& view) {
    ParsedProbe parsed = parse_probe(request.text);
    if (parsed.error)
        return parsed.error->error;
    ProbeInfo info;
    info.id = request.id;
    info.text = request.text;
    info.slow = request.slow;
    info.conditions = request.conditions;
    Probe probe{
        std::move(info), *parsed.pattern, way_out_, ThresholdFollower(request.slow), {}, {}};
    ProbeReport report;
    std::vector<ProbeModule> modules = view.probe_modules();
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
    auto matches = match_probe(*parsed.pattern, view.probe_modules());
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
        remove_spec(place.spec);
        spec_places_.erase(place.spec);
    }
    probe.info.deleted = true;
    sink_.on_probe(probe.info);
    probes_.erase(found);
    return {};
}

Result<void> LiveProbes::set_slow(ProbeId id, const Threshold& threshold,
                                  const CallConditions& conditions, const TargetView& view) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{"set threshold", fmt::format("#{}", id.value), "there is no such probe",
                     "`probes` lists them"};
    Probe& probe = found->second;
    const ProbeInfo before = probe.info;
    probe.info.slow = threshold;
    probe.info.conditions = conditions;
    const bool same_values =
        before.conditions == conditions &&
        (before.slow.kind == Threshold::Kind::none) == (threshold.kind == Threshold::Kind::none);
    if (!same_values) {
        if (auto set = set_programs(probe, view); !set) {
            probe.info = before;
            return set;
        }
    }
    probe.follower.set_threshold(threshold);
    publish(probe);
    sink_.on_probe(probe.info);
    return {};
}

Result<void> LiveProbes::set_split(const std::optional<SplitRequest>& split,
                                   const TargetView& view) {
    const std::optional<SplitRequest> before = std::exchange(split_, split);
    // Both probes are asked for what they need now.
    auto asked = [&](const std::optional<SplitRequest>& request) {
        auto found = request ? probes_.find(request->probe) : probes_.end();
        return found == probes_.end() ? nullptr : &found->second;
    };
    auto needs_program = [](const std::optional<SplitRequest>& request) {
        return request && !(request->predicate.empty() && request->label.empty());
    };
    if (Probe* probe = asked(split); probe && needs_program(split)) {
        if (auto set = set_programs(*probe, view); !set) {
            split_ = before;
            return set;
        }
    }
    // The same mark of the same calls goes on being counted.
    const bool same_mark = before && split && before->probe == split->probe && before->mark &&
                           split->mark && *before->mark == *split->mark;
    if (Probe* probe = asked(before)) {
        if (before->mark && !same_mark) {
            for (const Place& place : probe->places)
                specs_.forget_mark(place.spec, before->mark->bit);
        }
        if (needs_program(before) && !(probe == asked(split) && needs_program(split)))
            (void)set_programs(*probe, view);
    }
    if (Probe* probe = asked(split); probe && split->mark && !same_mark) {
        for (const Place& place : probe->places) {
            if (auto counted =
                    specs_.count_mark(place.spec, split->mark->bit, split->mark->since_ns);
                !counted)
                return counted;
        }
    }
    return {};
}

Result<void> LiveProbes::ask(const Probe& probe, Place& place, std::optional<CallProgram> program) {
    if (program) {
        auto entered = call_programs_.enter(place.spec, std::move(program));
        if (!entered)
            return entered.error();
        place.program = *entered;
        if (auto set = specs_.set(place.spec, settings_of(probe, place)); !set)
            return set;
    }
    if (split_ && split_->probe == probe.info.id && split_->mark)
        return specs_.count_mark(place.spec, split_->mark->bit, split_->mark->since_ns);
    return {};
}

void LiveProbes::remove_spec(SpecId spec) {
    specs_.remove(spec);
    call_programs_.remove(spec);
}

void LiveProbes::set_terms(uint32_t mask, const std::map<ProbeId, uint32_t>& terms) {
    for (auto& [id, probe] : probes_) {
        auto found = terms.find(id);
        uint32_t wanted = (probe.terms & ~mask) | (found == terms.end() ? 0 : found->second);
        if (wanted == probe.terms)
            continue;
        probe.terms = wanted;
        publish(probe);
    }
}

const ThresholdFollower* LiveProbes::follower(ProbeId id) const {
    auto found = probes_.find(id);
    return found == probes_.end() ? nullptr : &found->second.follower;
}

void LiveProbes::publish(const Probe& probe) {
    for (const Place& place : probe.places)
        (void)specs_.set(place.spec, settings_of(probe, place));
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

void LiveProbes::update(const TargetView& view, uint64_t now_ns) {
    std::vector<ProbeModule> modules = view.probe_modules();
    std::optional<UnwindProof> proof;
    for (auto& [id, probe] : probes_) {
        bool automatic_trampoline = probe.way_out == WayOut::automatic &&
                                    std::ranges::any_of(probe.groups, [](const PlaceGroup& group) {
                                        return group.request().exit != ExitWay::instructions;
                                    });
        if (automatic_trampoline) {
            if (!proof)
                proof = prove(view);
            if (!proof->proven && !view.pids.empty())
                fall_back_to_exits(probe, view, proof->reason, now_ns);
        }
        for (PlaceGroup& group : probe.groups) {
            if (auto attached = group.attach(programs_, view); !attached)
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
        for (PlaceGroup& group : probe.groups)
            group.forget_process(pid);
    }
}

void LiveProbes::read_statistics(uint64_t now_ns, const Told& told) {
    for (auto& [id, probe] : probes_) {
        bool moved = false;
        for (const Place& place : probe.places) {
            if (auto event = specs_.read(place.spec, now_ns)) {
                moved |= probe.follower.on_stats(*event);
                sink_.on_stats(*event);
                told(id, *event);
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
        for (const PlaceGroup& group : probe.groups)
            group.add_link_ids(ids);
    }
    return ids;
}

} // namespace auger
