// SPDX-License-Identifier: GPL-3.0-or-later
// What the settings consist of that a console sends (fields.h). An agent reads no more of them than
// its backend expects of the console's own language. Changes with loader/settings.
#pragma once

#include "loader/remote/fields.h"
#include "loader/settings/explain_request.h"
#include "loader/settings/filter_spec.h"
#include "loader/settings/probe_request.h"
#include "loader/settings/sampling_settings.h"
#include "loader/settings/target_spec.h"
#include "loader/settings/way_out.h"

#include <algorithm>

namespace auger::remote {

void fields(auto& all, IsA<TargetSpec> auto& target) {
    all.choice(target.kind, TargetSpec::Kind::command);
    all(target.pids, target.tree, target.name, target.user, target.cgroup, target.command);
}

void fields(auto& all, IsA<FilterSpec> auto& filter) {
    all(filter.pids, filter.tids, filter.comms, filter.cgroups);
}

void fields(auto& all, IsA<Threshold> auto& threshold) {
    all.choice(threshold.kind, Threshold::Kind::percentile);
    all(threshold.fixed_ns, threshold.percentile);
    all.require(threshold.kind != Threshold::Kind::percentile ||
                (threshold.percentile > 0 && threshold.percentile < 100));
}

void fields(auto& all, IsA<CallConditions> auto& conditions) {
    all(conditions.only_if, conditions.slow_if, conditions.show, conditions.show_default);
}

void fields(auto& all, IsA<SpanPoint> auto& point) {
    all.choice(point.role, SpanPoint::Role::resume);
    all(point.probe, point.at_return, point.only_if, point.key, point.queued, point.keep);
}

void fields(auto& all, IsA<ExchangeDefinition> auto& exchanges) {
    all(exchanges.port, exchanges.unix_path, exchanges.quiet_ns);
}

void fields(auto& all, IsA<SpanDefinition> auto& span) {
    all(span.points, span.exchanges, span.limit_ns, span.text);
    const auto has = [&](SpanPoint::Role role) {
        return std::ranges::find(span.points, role, &SpanPoint::role) != span.points.end();
    };
    all.require(span.points.empty() ||
                (!span.exchanges && has(SpanPoint::Role::from) && has(SpanPoint::Role::to)));
}

void fields(auto& all, IsA<ProbeRequest> auto& request) {
    all(request.id, request.text, request.slow, request.conditions, request.span);
}

void fields(auto& all, IsA<GateTerm> auto& term) {
    all.choice(term.kind, GateTerm::Kind::cgroup);
    all(term.probe, term.older, term.number, term.text);
}

void fields(auto& all, IsA<Clause> auto& clause) {
    all(clause.all, clause.none);
}

// Whether clauses speak of terms that there are, and no more than a kernel takes.
inline bool are_clauses(const std::vector<Clause>& clauses, size_t terms) {
    const auto below = [&](uint32_t term) { return term < terms; };
    return clauses.size() <= Gate::most_clauses && terms <= Gate::most_terms &&
           std::ranges::all_of(clauses, [&](const Clause& clause) {
               return std::ranges::all_of(clause.all, below) &&
                      std::ranges::all_of(clause.none, below);
           });
}

void fields(auto& all, IsA<Gate> auto& gate) {
    all(gate.terms, gate.clauses);
    all.require(are_clauses(gate.clauses, gate.terms.size()));
}

void fields(auto& all, IsA<MarkInfo> auto& mark) {
    all(mark.bit, mark.text, mark.since_ns, mark.until_ns);
    all.require(mark.bit < most_marks);
}

void fields(auto& all, IsA<OnlyInfo> auto& only) {
    all(only.text, only.gate, only.lines, only.line_clauses);
    all.require(are_clauses(only.line_clauses, only.lines.size()));
}

void fields(auto& all, IsA<Branch> auto& branch) {
    all.choice(branch.kind, Branch::Kind::condition);
    all(branch.what);
}

// But for what a backend fills in.
void fields(auto& all, IsA<SplitInfo> auto& split) {
    all(split.active, split.probe, split.threshold, split.so_far, split.branch, split.label);
}

void fields(auto& all, IsA<ExplainRequest> auto& explain) {
    all(explain.active, explain.probe, explain.by);
}

void fields(auto& all, IsA<SamplingSettings> auto& sampling) {
    all(sampling.rate_hz, sampling.wall, sampling.raised_hz, sampling.raised, sampling.wakers,
        sampling.waits_hz, sampling.tasks, sampling.go_label);
}

void fields(auto& all, IsA<WayOut> auto& way) {
    all.choice(way, WayOut::trampoline);
}

} // namespace auger::remote
