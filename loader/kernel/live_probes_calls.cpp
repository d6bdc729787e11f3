// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: what is asked of the probes' calls, and read of them.
#include "loader/kernel/live_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// Values that are in registers when the call begins.
bool reads_arguments(const CallProgram& program) {
    return std::any_of(
        program.wire.fetch, program.wire.fetch + program.wire.fetches, [](const wire_fetch& fetch) {
            return fetch.base == WIRE_BASE_REGISTER && !(fetch.flags & WIRE_FETCH_AT_END);
        });
}

} // namespace

Error LiveProbes::overwritten(const PlaceMatch& match) {
    return Error{"read arguments", match.name,
                 "they are overwritten before the first instruction that can be probed",
                 "its result and errno can be read"};
}

bool LiveProbes::can_read(const CallProgram& program, const Place& place) {
    return place.match.kind != PlaceKind::function || place.match.argument_entry ||
           !reads_arguments(program);
}

bool LiveProbes::needs_other_entry(const CallProgram& program, const Place& place) {
    return place.match.kind == PlaceKind::function && !place.at_arguments &&
           reads_arguments(program) &&
           place.match.argument_entry->address != place.match.entry.address;
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
    pointer_calls_.remove(specs_.cookie(spec));
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

} // namespace auger
