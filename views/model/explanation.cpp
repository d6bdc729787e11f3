// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace auger {

namespace {

using Column = std::vector<double>;

void sort_parts(std::vector<ExplainedPart>& parts) {
    std::ranges::stable_sort(parts, [](const ExplainedPart& a, const ExplainedPart& b) {
        if (a.rest != b.rest)
            return b.rest;
        const double first = a.share.variance.value_or(0), second = b.share.variance.value_or(0);
        return first != second ? first > second : a.share.mean > b.share.mean;
    });
}

void add_functions(Explanation& found, const VarianceShares& shares,
                   const std::vector<const ExplainedCall*>& calls) {
    std::map<SpecId, std::pair<Column, double>> functions; // own time, and calls
    Column rest;
    for (size_t i = 0; i < calls.size(); i++) {
        rest.push_back(static_cast<double>(calls[i]->duration_ns));
        for (const CallPart& part : calls[i]->parts) {
            auto& [column, count] = functions[part.spec];
            column.resize(calls.size());
            column[i] += static_cast<double>(part.self_ns);
            count += double(part.calls) * calls[i]->stands_for;
            rest[i] -= static_cast<double>(part.self_ns);
        }
    }
    for (const auto& [spec, function] : functions)
        found.functions.push_back({.spec = spec,
                                   .calls = function.second / shares.weight(),
                                   .share = shares.of(function.first)});
    found.functions.push_back({.rest = true, .calls = 1, .share = shares.of(rest)});
    sort_parts(found.functions);
}

// What is known of all calls together: with waits, or without.
void add_states(Explanation& found, const std::vector<const ExplainedCall*>& calls) {
    std::vector<const ExplainedCall*> known;
    for (const ExplainedCall* call : calls)
        if (call->waits)
            known.push_back(call);
    const bool watched = !known.empty();
    if (!watched && !found.of_span)
        return;
    if (!watched)
        known = calls;
    Column weights, durations, blocked, runnable, parked, queued, running;
    for (const ExplainedCall* call : known) {
        const CallWaits waits = call->waits.value_or(CallWaits{});
        weights.push_back(call->stands_for);
        durations.push_back(static_cast<double>(call->duration_ns));
        blocked.push_back(static_cast<double>(waits.blocked_ns));
        runnable.push_back(static_cast<double>(waits.runnable_ns));
        parked.push_back(static_cast<double>(call->parked_ns));
        queued.push_back(static_cast<double>(call->queued_ns));
        running.push_back(durations.back() - blocked.back() - runnable.back() - parked.back() -
                          queued.back());
    }
    const VarianceShares shares(std::move(weights), std::move(durations));
    const auto add = [&](std::string_view state, const Column& column) {
        found.states.push_back({.state = state, .share = shares.of(column)});
    };
    add(watched ? "cpu" : found.is_park_known ? "on a thread" : "served or parked", running);
    if (watched) {
        add("blocked", blocked);
        add("runnable", runnable);
    }
    if (found.of_span) {
        add("parked", parked);
        add("queued", queued);
    }
    found.state_calls = shares.calls();
    sort_parts(found.states);
}

// What a hit of the probe's probes costs, over the last second that was measured.
double hit_cost_ns(const Model& model, ProbeId probe) {
    for (const Overhead::Cause& cause : model.ledger().overhead.causes)
        if (cause.kind == Overhead::Cause::Kind::probe && cause.probe == probe && cause.events)
            return static_cast<double>(cause.cost_ns) / static_cast<double>(cause.events);
    return 0;
}

} // namespace

std::vector<int64_t> rounded_shares(const std::vector<double>& shares, double whole) {
    std::vector<int64_t> rounded;
    if (!(whole > 0)) {
        rounded.resize(shares.size());
        return rounded;
    }
    // Down first; what is missing goes to those that lost most by that.
    std::vector<std::pair<double, size_t>> lost;
    int64_t sum = 0;
    for (size_t i = 0; i < shares.size(); i++) {
        // Beyond that there is nobody who reads it; recordings may hold anything.
        const double tenths = std::clamp(shares[i] / whole * 1000, -1e15, 1e15);
        rounded.push_back(static_cast<int64_t>(std::floor(tenths)));
        lost.emplace_back(tenths - std::floor(tenths), i);
        sum += rounded.back();
    }
    std::ranges::sort(lost, std::greater<>());
    for (size_t i = 0; i < lost.size() && sum < 1000; i++, sum++)
        rounded[lost[i].second]++;
    return rounded;
}

Explanation explain_calls(const Model& model, const Window& window, ProbeId probe) {
    Explanation found;
    const ProbeInfo* info = model.find_probe(probe);
    if (!info)
        return found;
    found.of_span = !info->span.empty();
    const CallStatistics all = model.probe_statistics(probe);
    found.is_park_known = all.span.is_park_known(all.sum_ns);
    Window whole = window;
    if (whole.kind == Window::Kind::ewma)
        whole = {Window::Kind::all, 0, window.end_ns};
    std::vector<const ExplainedCall*> calls;
    Column weights, durations;
    double incomplete_ns = 0;
    for (const ExplainedCall& call : model.explained_calls().calls()) {
        if (model.specs()[call.spec.index()].probe != probe ||
            !model.explained_calls().has_latest_parts(call, probe) ||
            !(whole.weight(call.time_ns, model.now_ns()) > 0))
            continue;
        const uint64_t begin = call.time_ns - std::min(call.time_ns, call.duration_ns);
        found.from_ns = found.from_ns ? std::min(found.from_ns, begin) : begin;
        if (call.incomplete) {
            found.incomplete++;
            incomplete_ns += static_cast<double>(call.duration_ns);
            continue;
        }
        calls.push_back(&call);
        weights.push_back(call.stands_for);
        durations.push_back(static_cast<double>(call.duration_ns));
    }
    if (found.incomplete)
        found.incomplete_mean_ns = incomplete_ns / static_cast<double>(found.incomplete);
    if (calls.empty())
        return found;
    const VarianceShares shares(std::move(weights), std::move(durations));
    found.calls = shares.calls();
    found.stands_for = shares.weight();
    found.mean_ns = shares.mean();
    found.deviation_ns = std::sqrt(shares.variance());
    found.p95_ns = shares.p95();
    found.slow_calls = shares.slow_calls();
    found.effective_calls = shares.effective_calls();
    add_functions(found, shares, calls);
    add_states(found, calls);
    double dearest_ns = 0;
    for (const ExplainedPart& part : found.functions) {
        if (part.rest)
            continue;
        const double cost_ns =
            2 * part.calls * hit_cost_ns(model, model.specs()[part.spec.index()].probe);
        found.probing_ns += cost_ns;
        if (cost_ns > dearest_ns)
            found.dearest = part.spec;
        dearest_ns = std::max(dearest_ns, cost_ns);
    }
    return found;
}

} // namespace auger
