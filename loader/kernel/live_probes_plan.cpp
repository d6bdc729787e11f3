// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: which places of a probe are attached, and how; and what that costs, told before.
#include "loader/kernel/live_probes.h"
#include "loader/kernel/place_kind.h"
#include "loader/probes/program_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace auger {

Result<LiveProbes::ChosenPlaces>
LiveProbes::choose_places(const Probe& probe, const ProbeMatches& matches, const TargetView& view,
                          TailCallers& callers, ProbeReport& report) {
    ChosenPlaces chosen;
    chosen.being_read.insert(matches.being_read.begin(), matches.being_read.end());
    UnwindProof proof{false, ""};
    if (probe.way_out == WayOut::automatic)
        proof = exits_.prove(view);
    // For the first place that is new: of most updates there is none, and to see what may be shown
    // processes' mappings are read.
    std::optional<ProgramCompiler> compiler;
    bool reads_contexts = false;
    for (const PlaceMatch& match : matches.places) {
        const TargetModule& module = view.modules[match.module];
        if (find_place(probe, match, module))
            continue;
        const bool counted = !probe.point && !has_duration(match.kind);
        const bool at_entry = counted || (probe.point && probe.point->at_entry());
        if (const std::string why = probe.point ? no_point(match, *probe.point)
                                    : counted && asks_for_durations(probe) ? no_duration(match.kind)
                                                                           : "";
            !why.empty()) {
            report.skipped.push_back(fmt::format("{}: {}", match.name, why));
            continue;
        }
        if (!at_entry && probe.way_out == WayOut::trampoline && !match.no_return_probe.empty()) {
            report.skipped.push_back(fmt::format("{}: no return probe here: {}; `exit ret` works",
                                                 match.name, match.no_return_probe));
            continue;
        }
        if (!at_entry && match.site && match.site->jump &&
            callers.not_yet(jumping_function(probe, match), match.module)) {
            chosen.being_read.insert(match.module);
            continue;
        }
        if (const std::string why = at_entry ? "" : callers.no_way_back(match); !why.empty()) {
            report.skipped.push_back(fmt::format("{}: {}", match.name, why));
            continue;
        }
        ExitChooser::Choice choice = at_entry
                                         ? ExitChooser::Choice{ExitWay::point, {}}
                                         : exits_.choose(match, module, view, probe.way_out, proof);
        bool unknown_condition =
            !at_entry &&
            std::any_of(match.exits.begin(), match.exits.end(), [](const ExitPlace& exit) {
                return exit.code.conditional && exit.code.condition >= no_condition;
            });
        if (!is_trampoline(choice.exit) && unknown_condition) {
            report.skipped.push_back(match.name + ": leaves by a loop or jrcxz instruction");
            continue;
        }
        if (!choice.why.empty())
            chosen.reasons.insert(fmt::format(
                "exit probes: {}, because {}",
                is_trampoline(choice.exit) ? "uretprobe" : "exit instructions", choice.why));
        Place fresh{{}, match, module.identity(), choice.exit};
        fresh.values = values_of(match, view);
        if (is_without_tail(fresh) &&
            callers.not_yet(jumping_function(probe, match), match.module)) {
            chosen.being_read.insert(match.module);
            continue;
        }
        fresh.ends_in_callees = is_without_tail(fresh) && !match.tail_ends.empty() &&
                                !ends_beside(match, module) &&
                                !is_called_by_known(probe, match, callers);
        if (const std::string why =
                probe.point && !at_entry ? no_return(probe, fresh, callers) : "";
            !why.empty()) {
            report.skipped.push_back(fmt::format("{}: {}", match.name, why));
            continue;
        }
        if (!compiler)
            compiler.emplace(readers_, request_for(probe, view));
        auto program = compiler->compile(fresh.values);
        auto go =
            program && choice.exit == ExitWay::go ? readers_.go_places(module.file) : GoPlaces();
        if ((!program || !go) && readers_.not_yet()) {
            chosen.being_read.insert(match.module);
            continue;
        }
        if (!program)
            return program.error();
        if (!go)
            return go.error();
        if (probe.point)
            if (auto checked = check_key(*probe.point, *program); !checked)
                return checked.error();
        if (auto checked = check_values(probe, fresh, view, *program); !checked)
            return checked.error();
        reads_contexts = reads_contexts || (*program && reads_context(**program));
        fresh.at_arguments = *program && needs_other_entry(**program, fresh);
        fresh.reads_results = *program && reads_results(**program);
        fresh.leaves_early = may_leave_early(probe, fresh);
        chosen.places.push_back({std::move(fresh), *std::move(program), *std::move(go)});
    }
    if (reads_contexts)
        contexts_.want(view);
    return chosen;
}

ProbePlan::Cost LiveProbes::cost_of(const Place& place, const HitCosts& costs) {
    const uint64_t entry = costs.of(place.entry().cost);
    if (is_trampoline(place.exit))
        return {entry + costs.return_ns, entry + costs.return_ns};
    if (place.exit == ExitWay::point || place.exits().empty())
        return {entry, entry};
    // Each of its exits is a jump, behind which comes an end.
    if (place.ends_in_callees) {
        const auto [least, most] =
            std::ranges::minmax(place.match.tail_ends, {},
                                [&](const ExitPlace& end) { return costs.of(end.code.cost); });
        uint64_t jump = 0;
        for (const ExitPlace& exit : place.exits())
            jump = std::max(jump, costs.of(exit.code.cost));
        return {entry + jump + costs.of(least.code.cost), entry + jump + costs.of(most.code.cost)};
    }
    // The dearest call passes each jump that is an exit of others.
    uint64_t jumps = 0;
    for (const ExitPlace& exit : place.exits())
        jumps += exit.code.conditional ? costs.of(exit.code.cost) : 0;
    ProbePlan::Cost cost{UINT64_MAX, 0};
    for (const ExitPlace& exit : place.exits()) {
        const uint64_t last = costs.of(exit.code.cost),
                       passed = jumps - (exit.code.conditional ? last : 0);
        cost.least_ns = std::min(cost.least_ns, entry + last);
        cost.most_ns = std::max(cost.most_ns, entry + last + passed);
    }
    return cost;
}

Result<ProbePlan> LiveProbes::plan(const ProbeRequest& request, const TargetView& view,
                                   const HitCosts& costs) {
    ProbeInfo info;
    info.id = request.id;
    info.text = request.text;
    info.slow = request.slow;
    info.conditions = request.conditions;
    Probe probe{std::move(info), {}, way_out_, ThresholdFollower(request.slow), {}, {}};
    if (!request.span.empty()) {
        probe.span = request.span;
        const auto points = find_points(probe, view);
        if (!points)
            return points.error();
        return ProbePlan{};
    }
    ParsedProbe parsed = parse_probe(request.text);
    if (parsed.error)
        return parsed.error->error;
    probe.pattern = *parsed.pattern;
    if (needs_durations(probe.info.slow))
        if (auto checked = check_durations(probe, "trace slow calls"); !checked)
            return checked.error();
    ProbePlan plan;
    plan.costs_measured = costs.measured;
    ProbeReport& report = plan.report;
    auto matches = find(probe.pattern, view);
    if (!matches) {
        if (readers_.take_interrupted() || !may_come(probe.pattern, view))
            return matches.error();
        report.pending = true;
        report.notes.push_back(waits_for(probe.pattern, matches.error()));
        return plan;
    }
    for (const SkippedPlace& skipped : matches->skipped)
        report.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
    report.notes = matches->notes;
    if (probe.pattern.tracepoint()) {
        for (const PlaceMatch& match : matches->places)
            report.places.push_back(shown_tracepoint({{}, match, {}, ExitWay::point}));
        plan.costs.resize(report.places.size());
        return plan;
    }
    TailCallers callers(readers_, view);
    const auto chosen = choose_places(probe, *matches, view, callers, report);
    if (!chosen)
        return chosen.error();
    report.notes.insert(report.notes.end(), chosen->reasons.begin(), chosen->reasons.end());
    for (const ChosenPlace& one : chosen->places) {
        report.places.push_back(shown_place(one.place, view.modules[one.place.match.module].path));
        plan.costs.emplace_back(cost_of(one.place, costs));
    }
    tell_being_read(chosen->being_read, view, report.notes);
    report.pending = report.places.empty();
    if (report.pending && chosen->being_read.empty())
        return nothing_to_time(request.text, report);
    return plan;
}

} // namespace auger
