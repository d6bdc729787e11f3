// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/slow_call_query.h"

#include "views/escape.h"

#include <algorithm>
#include <map>

namespace auger {

ProbeId probe_of(const Model& model, const SlowCall& call) {
    SpecId spec = call.end.call.spec;
    return spec.index() < model.specs().size() ? model.specs()[spec.index()].probe : ProbeId{};
}

std::string_view noun_of(std::span<const SlowCall* const> calls) {
    const auto of_all = [&](auto is) { return std::ranges::all_of(calls, is); };
    if (calls.empty() || of_all([](const SlowCall* call) { return call->threshold_ns > 0; }))
        return "slow call";
    return of_all([](const SlowCall* call) { return call->end.is_hit(); }) ? "hit" : "call";
}

bool is_span(const Model& model, const SlowCall& call) {
    const ProbeInfo* probe = model.find_probe(probe_of(model, call));
    return probe && !probe->span.empty();
}

bool is_park_known(const Model& model, const SlowCall& call) {
    const CallEndEvent& end = call.end;
    if (end.waits || end.parked_ns)
        return true;
    if (!is_span(model, call))
        return false;
    const CallStatistics all = model.probe_statistics(probe_of(model, call));
    return all.span.is_park_known(all.sum_ns);
}

namespace {

bool is_asked_for(const Model& model, const SlowCall& call, const Window& window,
                  std::optional<ProbeId> probe) {
    uint64_t time = call.end.time_ns, now = model.now_ns();
    bool in_window = time >= window.since(0, now) && time <= window.until(now);
    return in_window && (!probe || probe_of(model, call) == *probe);
}

} // namespace

std::vector<const SlowCall*> find_slow_calls(const Model& model, const Classifier& classify,
                                             const Window& window, std::optional<ProbeId> probe,
                                             const ClassFilter& filter) {
    ClassTest is_shown(model, classify, filter);
    std::vector<const SlowCall*> found;
    for (const SlowCall& call : model.slow_calls())
        if (is_asked_for(model, call, window, probe) &&
            is_shown(call.call, call.end.time_ns, call.end.thread, call.stack))
            found.push_back(&call);
    return found;
}

size_t count_left_out(const Model& model, const Classifier& classify, const Window& window,
                      std::optional<ProbeId> probe) {
    size_t count = 0;
    for (const SlowCall& call : model.slow_calls())
        count += is_asked_for(model, call, window, probe) && !classify.kept(call.call, call.stack);
    return count;
}

ClassFilter class_of(const Model& model, const Classifier& classify, const SlowCall& call) {
    CallIndex outer = classify.outermost(call.call, call.end.time_ns);
    ClassFilter of;
    if (model.split().threshold.kind != Threshold::Kind::none || outer == no_call)
        of.duration = classify(call.call, call.end.time_ns);
    of.taken = classify.taken(outer);
    if (LabelId label = classify.label(outer); label != no_label)
        of.label = escape_untrusted(model.labels()[label.index()]);
    return of;
}

std::optional<CallPlace> main_place_of(const Model& model, const SlowCall& call) {
    const SampleStore& samples = model.samples();
    const CallTable& calls = model.calls();
    const auto lies_in_it = [&](CallIndex at) {
        for (size_t steps = 0; at != no_call && steps < most_open_calls; steps++) {
            if (at == call.call)
                return true;
            at = calls[at].parent;
        }
        return false;
    };
    const uint64_t end_ns = call.end.time_ns, begin_ns = end_ns - call.end.duration_ns;
    StackId wait, longest_run;
    uint64_t wait_ns = 0, longest_run_ns = 0, run_ns = 0;
    size_t runs = 0;
    std::map<StackId, uint64_t> running;
    for (size_t i = 0; call.call != no_call && i < samples.size(); i++) {
        const uint64_t time_ns = samples.times()[i], weight_ns = samples.weights()[i];
        if (time_ns < begin_ns || time_ns > end_ns || !lies_in_it(samples.calls()[i]))
            continue;
        const StackId stack = samples.stacks()[i];
        if (samples.kinds()[i] == SampleKind::cpu) {
            runs++;
            run_ns += weight_ns;
            uint64_t& here_ns = running[stack];
            here_ns += weight_ns;
            if (here_ns > longest_run_ns) {
                longest_run_ns = here_ns;
                longest_run = stack;
            }
        } else if (samples.kinds()[i] == SampleKind::blocked && weight_ns > wait_ns) {
            wait_ns = weight_ns;
            wait = stack;
        }
    }
    if (wait_ns > 0 && wait_ns >= run_ns)
        return CallPlace{wait, true, 0};
    if (runs > 0)
        return CallPlace{longest_run, false, runs};
    return std::nullopt;
}

} // namespace auger
