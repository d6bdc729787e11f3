// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: what is asked of the probes' calls, and read of them.
#include "loader/kernel/live_probes.h"

#include "loader/probes/program_compiler.h"
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

std::string LiveProbes::no_duration(PlaceKind kind) {
    switch (kind) {
    case PlaceKind::instruction:
        return "a place inside a function is counted, and has no duration";
    case PlaceKind::line:
        return "a line is counted, and has no duration; time the function that holds it, or a call "
               "that it makes (FUNCTION@FILE:LINE)";
    case PlaceKind::usdt:
        return "a USDT probe is counted, and has no duration; a span from one to another has";
    case PlaceKind::tracepoint:
        return "a tracepoint is counted, and has no duration; a span from one to another has";
    case PlaceKind::function:
    case PlaceKind::call_site:
        break;
    }
    return {};
}

bool LiveProbes::asks_for_durations(const Probe& probe) const {
    return needs_durations(probe.info.slow) || (split_ && split_->probe == probe.info.id);
}

bool LiveProbes::needs_durations(const Threshold& slow) {
    return slow.kind != Threshold::Kind::none && !slow.is_of_every_call();
}

// Of what is asked of the probe: that its calls have durations, or are classes.
Result<void> LiveProbes::check_durations(const Probe& probe, const char* operation) {
    const auto counted = std::ranges::find_if(probe.places, [&](const Place& place) {
        return probe.span.empty() && !has_duration(place.match.kind);
    });
    PlaceKind kind = PlaceKind::instruction;
    if (counted != probe.places.end())
        kind = counted->match.kind;
    else if (probe.span.empty() && is_place(probe.pattern))
        kind = probe.pattern.usdt()         ? PlaceKind::usdt
               : probe.pattern.tracepoint() ? PlaceKind::tracepoint
               : probe.pattern.line         ? PlaceKind::line
                                            : PlaceKind::instruction;
    else
        return {};
    return Error{operation, probe.info.text, no_duration(kind),
                 "`trace` records each time that it is reached", Error::Kind::failed};
}

Error LiveProbes::unreadable(const PlaceMatch& match) {
    if (!has_duration(match.kind))
        return Error{"read arguments", match.name,
                     "they are known where a function begins, not at a place inside it",
                     "name the function, or a USDT probe, whose arguments are known"};
    return Error{"read arguments", match.name,
                 "they are overwritten before the first instruction that can be probed",
                 "its result and errno can be read"};
}

bool LiveProbes::can_read(const CallProgram& program, const Place& place) {
    if (!has_duration(place.match.kind) && !place.match.usdt && !place.match.tracepoint)
        return false;
    return place.match.kind != PlaceKind::function || place.match.argument_entry ||
           !reads_arguments(program);
}

Result<void> LiveProbes::check_values(const Probe& probe, const Place& place,
                                      const TargetView& view,
                                      std::optional<CallProgram>& program) const {
    if (!program || can_read(*program, place))
        return {};
    ProgramRequest asked_for = request_for(probe, view);
    asked_for.conditions.show_default = false;
    if (has_duration(place.match.kind) || !asks_nothing(asked_for))
        return unreadable(place.match);
    program.reset();
    return {};
}

bool LiveProbes::needs_other_entry(const CallProgram& program, const Place& place) {
    return place.match.kind == PlaceKind::function && !place.at_arguments &&
           reads_arguments(program) &&
           place.match.argument_entry->address != place.match.entry.address;
}

// The result, or errno.
bool LiveProbes::reads_results(const CallProgram& program) {
    return std::any_of(
        program.wire.fetch, program.wire.fetch + program.wire.fetches, [](const wire_fetch& fetch) {
            return fetch.base != WIRE_BASE_GO_LABEL && (fetch.flags & WIRE_FETCH_AT_END);
        });
}

bool LiveProbes::may_leave_early(const Probe& probe, const Place& place) const {
    return (probe.way_out == WayOut::automatic || probe.way_out == WayOut::cheap) &&
           !place.match.cheap_exits.empty() && !place.reads_results && !lines_watched_;
}

SpecSettings LiveProbes::settings_of(const Probe& probe, const Place& place) const {
    SpecSettings settings;
    settings.second = place.second;
    settings.tails = place.returns > 0;
    settings.tail_ends = place.ends_in_callees;
    settings.program = place.program;
    settings.terms = probe.terms;
    settings.part = place.part;
    settings.return_probes = place.exit == ExitWay::return_probe || place.exit == ExitWay::session;
    settings.is_go = place.exit == ExitWay::go;
    settings.is_span = !probe.span.empty();
    settings.limit_ns = probe.span.limit_ns;
    if (probe.point) {
        const uint64_t span = specs_.cookie(probe.point->spec);
        const SpanPoint& point = probe.point->point;
        settings.point.spec = span & WIRE_COOKIE_SPEC_MASK;
        settings.point.generation = static_cast<uint16_t>(span >> WIRE_COOKIE_GENERATION_SHIFT);
        settings.point.role = static_cast<uint8_t>(WIRE_SPAN_BEGIN + static_cast<int>(point.role));
        settings.point.flags = static_cast<uint8_t>(
            (point.at_return ? WIRE_SPAN_AT_RETURN : 0) |
            (point.key.empty() ? 0 : WIRE_SPAN_KEYED) | (point.queued ? WIRE_SPAN_QUEUED : 0) |
            (point.keep ? WIRE_SPAN_KEEP : 0) | (probe.point->anywhere ? WIRE_SPAN_ANYWHERE : 0) |
            (probe.point->resumed ? WIRE_SPAN_RESUMED : 0));
    }
    ThresholdState state = probe.follower.state();
    if (state.in_force())
        settings.slow_ns = state.value_ns;
    return settings;
}

CalledFunction LiveProbes::values_of(const PlaceMatch& match, const TargetView& view) const {
    CalledFunction called;
    if (match.tracepoint) {
        called.name = match.name;
        called.tracepoint = match.tracepoint->format;
        return called;
    }
    called.pids = view.started ? view.pids : std::vector<pid_t>();
    if (!match.site) {
        called.name = match.name;
        called.file = view.modules[match.module].file;
        called.address = match.address;
        if (match.usdt) {
            called.name = fmt::format("usdt:{}:{}", match.usdt->provider, match.usdt->name);
            called.usdt_arguments = match.usdt->arguments;
        }
        return called;
    }
    called.name = match.site->function;
    if (match.site->callee) {
        called.file = view.modules[match.site->callee->module].file;
        called.address = match.site->callee->address;
    }
    return called;
}

ProgramRequest LiveProbes::request_for(const Probe& probe, const TargetView& view) const {
    ProgramRequest request;
    request.conditions = probe.info.conditions;
    if (probe.point) {
        request.conditions.only_if = probe.point->point.only_if;
        request.conditions.show_default = false;
        request.split_by = probe.point->point.key;
        return request;
    }
    request.traces_slow = probe.info.slow.kind != Threshold::Kind::none;
    request.shows_trace = request.traces_slow && request.conditions.show_default &&
                          request.conditions.show.empty() && ThreadContexts::may_be_there(view);
    if (split_ && split_->probe == probe.info.id) {
        request.split_if = split_->predicate;
        request.split_by = split_->label;
        if (split_->mark)
            request.split_mark = static_cast<uint8_t>(split_->mark->bit);
    }
    return request;
}

Result<void> LiveProbes::set_programs(Probe& probe, const TargetView& view, Transaction& edit) {
    ProgramCompiler compiler(readers_, request_for(probe, view));
    std::vector<std::optional<CallProgram>> programs;
    for (const Place& place : probe.places) {
        auto program = compiler.compile(place.values);
        if (!program)
            return program.error();
        if (auto checked = check_values(probe, place, view, *program); !checked)
            return checked;
        programs.push_back(std::move(*program));
    }
    if (std::ranges::any_of(programs, [](const std::optional<CallProgram>& program) {
            return program && reads_context(*program);
        }))
        contexts_.want(view);
    std::vector<const Place*> moved;
    for (size_t i = 0; i < programs.size(); i++) {
        Place& place = probe.places[i];
        const bool other_entry = programs[i] && needs_other_entry(*programs[i], place);
        if (other_entry) {
            edit.restore(place.at_arguments);
            place.at_arguments = true;
        }
        edit.restore(place.reads_results);
        place.reads_results = programs[i] && reads_results(*programs[i]);
        if (choose_exits(probe, place, edit) || other_entry)
            moved.push_back(&place);
    }
    if (auto renewed = renew_groups_of(probe, moved, view, edit); !renewed)
        return renewed;
    for (size_t i = 0; i < programs.size(); i++) {
        Place& place = probe.places[i];
        auto entered = call_programs_.enter(place.spec, std::move(programs[i]), edit);
        if (!entered)
            return entered.error();
        edit.restore(place.program);
        place.program = *entered;
    }
    return publish(probe, edit);
}

bool LiveProbes::choose_exits(const Probe& probe, Place& place, Transaction& edit) {
    const bool early = may_leave_early(probe, place);
    if (early == place.leaves_early)
        return false;
    edit.restore(place.leaves_early);
    place.leaves_early = early;
    return place.exit == ExitWay::instructions || place.exit == ExitWay::go;
}

Result<void> LiveProbes::watch_lines(bool watched, const TargetView& view, Transaction& edit) {
    if (watched == lines_watched_)
        return {};
    edit.restore(lines_watched_);
    lines_watched_ = watched;
    for (auto& [id, probe] : probes_) {
        std::vector<const Place*> moved;
        for (Place& place : probe.places)
            if (choose_exits(probe, place, edit))
                moved.push_back(&place);
        if (auto renewed = renew_groups_of(probe, moved, view, edit); !renewed)
            return renewed;
        if (auto published = moved.empty() ? Result<void>() : publish(probe, edit); !published)
            return published;
    }
    return {};
}

Result<void> LiveProbes::set_slow(ProbeId id, const Threshold& threshold,
                                  const CallConditions& conditions, const TargetView& view) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{"set threshold", fmt::format("#{}", id.value), "there is no such probe",
                     "`probes` lists them"};
    Probe& probe = found->second;
    if (!probe.span.empty() &&
        !(conditions.only_if.empty() && conditions.slow_if.empty() && conditions.show.empty()))
        return no_values(probe);
    if (needs_durations(threshold))
        if (auto checked = check_durations(probe, "trace slow calls"); !checked)
            return checked;
    const bool same_values =
        probe.info.conditions == conditions && (probe.info.slow.kind == Threshold::Kind::none) ==
                                                   (threshold.kind == Threshold::Kind::none);
    Transaction edit;
    edit.restore(probe.info);
    edit.restore(probe.follower);
    probe.info.slow = threshold;
    probe.info.conditions = conditions;
    probe.follower.set_threshold(threshold);
    auto set = !probe.span.empty() ? show_context(probe, view, edit)
               : same_values       ? publish(probe, edit)
                                   : set_programs(probe, view, edit);
    if (!set)
        return set;
    edit.commit();
    sink_.on_probe(probe.info);
    return {};
}

Result<void> LiveProbes::may_split(ProbeId id) const {
    const auto found = probes_.find(id);
    return found == probes_.end() ? Result<void>() : check_durations(found->second, "split");
}

Result<void> LiveProbes::set_split(const std::optional<SplitRequest>& split, const TargetView& view,
                                   Transaction& edit) {
    edit.restore(split_);
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
        if (!probe->span.empty())
            return no_values(*probe);
        if (auto set = set_programs(*probe, view, edit); !set)
            return set;
    }
    // The same mark of the same calls goes on being counted.
    const bool same_mark = before && split && before->probe == split->probe && before->mark &&
                           split->mark && *before->mark == *split->mark;
    if (Probe* probe = asked(before)) {
        if (needs_program(before) && !(probe == asked(split) && needs_program(split))) {
            if (auto set = set_programs(*probe, view, edit); !set)
                return set;
        }
        if (before->mark && !same_mark) {
            for (const Place& place : probe->places)
                edit.on_commit([this, spec = place.spec, bit = before->mark->bit] {
                    specs_.forget_mark(spec, bit);
                });
        }
    }
    if (Probe* probe = asked(split); probe && split->mark && !same_mark) {
        for (const Place& place : probe->places) {
            const uint32_t bit = split->mark->bit;
            if (auto counted = specs_.count_mark(place.spec, bit, split->mark->since_ns); !counted)
                return counted;
            edit.on_rollback([this, spec = place.spec, bit] { specs_.forget_mark(spec, bit); });
        }
    }
    return {};
}

Result<void> LiveProbes::ask(const Probe& probe, Place& place, std::optional<CallProgram> program) {
    if (program) {
        // A failure ends the spec, and with it all that was entered for it.
        Transaction edit;
        auto entered = call_programs_.enter(place.spec, std::move(program), edit);
        if (!entered)
            return entered.error();
        edit.commit();
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

Result<void> LiveProbes::set_terms(uint32_t mask, const std::map<ProbeId, uint32_t>& terms,
                                   Transaction& edit) {
    for (const auto& [id, bits] : terms)
        if (const auto asked = probes_.find(id); asked != probes_.end())
            if (auto checked = check_durations(asked->second, "only"); !checked)
                return checked;
    for (auto& [id, probe] : probes_) {
        auto found = terms.find(id);
        uint32_t wanted = (probe.terms & ~mask) | (found == terms.end() ? 0 : found->second);
        if (wanted == probe.terms)
            continue;
        edit.restore(probe.terms);
        probe.terms = wanted;
        if (auto published = publish(probe, edit); !published)
            return published;
    }
    return {};
}

const ThresholdFollower* LiveProbes::follower(ProbeId id) const {
    auto found = probes_.find(id);
    return found == probes_.end() ? nullptr : &found->second.follower;
}

Result<void> LiveProbes::publish(const Probe& probe, Transaction& edit) {
    for (const Place& place : probe.places) {
        const SpecSettings before = specs_.settings(place.spec);
        if (auto set = specs_.set(place.spec, settings_of(probe, place)); !set)
            return set;
        edit.on_rollback([this, spec = place.spec, before] { (void)specs_.set(spec, before); });
    }
    return {};
}

} // namespace auger
