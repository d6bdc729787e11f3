// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/drill.h"

#include "views/format.h"
#include "views/model/duration_gaps.h"
#include "views/model/frame_kind.h"
#include "views/model/function_probe.h"
#include "views/screen/histogram_layout.h"
#include "views/screen/target_function.h"
#include "views/short_name.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace auger {

namespace {

// Preferred numbers, ten in a decade: as fine as the eye tells bars of the histogram apart.
constexpr std::array<uint64_t, 10> preferred = {100, 125, 160, 200, 250, 320, 400, 500, 630, 800};
constexpr std::array<double, 10> percentiles = {50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99};

uint64_t step_duration(uint64_t ns, bool up) {
    uint64_t decade = 1; // ns below 1000 * decade
    while (ns / 1000 >= decade)
        decade *= 10;
    // Candidates of this decade and its neighbours, in units of a tenth of a nanosecond step.
    uint64_t best = 0;
    for (uint64_t scale : {decade / 10, decade, decade * 10}) {
        for (uint64_t p : preferred) {
            const uint64_t value = p * scale;
            if (up ? value > ns && (best == 0 || value < best) : value < ns && value > best)
                best = value;
        }
    }
    return best ? best : 100;
}

std::optional<double> step_percentile(double p, bool up) {
    if (up) {
        const auto* next = std::upper_bound(percentiles.begin(), percentiles.end(), p);
        return next == percentiles.end() ? std::nullopt : std::optional(*next);
    }
    const auto* next = std::lower_bound(percentiles.begin(), percentiles.end(), p);
    return next == percentiles.begin() ? std::nullopt : std::optional(*(next - 1));
}

Drill move_threshold(const Model& model, bool up) {
    const SplitInfo& split = model.split();
    const ProbeInfo* probe = split.active ? model.find_probe(split.probe) : nullptr;
    if (!probe || split.threshold.kind == Threshold::Kind::none)
        return {"", fmt::format("no split by duration yet: {} at a function makes one",
                                key_name(Action::split_on_it))};
    Threshold moved = split.threshold;
    if (moved.kind == Threshold::Kind::fixed) {
        moved.fixed_ns = step_duration(moved.fixed_ns, up);
    } else {
        const auto percentile = step_percentile(moved.percentile, up);
        if (!percentile)
            return {"", fmt::format("{} is as far as percentiles go; type a duration: "
                                    "threshold {} 5ms",
                                    spell_threshold(moved), spell_word(probe->text))};
        moved.percentile = *percentile;
    }
    return {fmt::format("threshold {} {}", spell_word(probe->text), spell_threshold(moved)), ""};
}

// To where the split's durations part next, or one that can be seen.
Drill move_to_gap(const Model& model, bool up) {
    const SplitInfo& split = model.split();
    const ProbeInfo* probe = split.active ? model.find_probe(split.probe) : nullptr;
    if (!probe || split.threshold.kind == Threshold::Kind::none)
        return {"", fmt::format("no split by duration yet: {} at a function makes one",
                                key_name(Action::split_on_it))};
    const ThresholdState state = model.split_state();
    return drill_to_gap(model, *probe, model.probe_statistics(probe->id).durations,
                        state.in_force() ? state.value_ns : 0, up);
}

// What tells slow calls from others when nobody has said: p95, or, where that cannot be seen, the
// first gap between durations that can.
std::string first_threshold(const Model& model, const ProbeInfo* probe) {
    if (probe) {
        const CallStatistics calls = model.probe_statistics(probe->id);
        if (calls.returns > 0 &&
            calls.quantile(0.95) < static_cast<double>(model.visible_from_ns()))
            if (const auto gap = model.visible_gap(probe->id))
                return spell_duration(*gap);
    }
    return "p95";
}

// Which calls are slow. Of the split's probe the same as the split says; of others those that would
// make a call of the split's probe slow all by themselves.
Threshold slow_threshold(const Model& model, const ProbeInfo* probe) {
    const SplitInfo& split = model.split();
    Threshold threshold;
    threshold.kind = Threshold::Kind::percentile;
    threshold.percentile = 99;
    if (!split.active || split.threshold.kind == Threshold::Kind::none)
        return threshold;
    if (probe && probe->id == split.probe)
        return split.threshold;
    const ThresholdState state = model.split_state();
    if (!state.in_force())
        return threshold;
    threshold.kind = Threshold::Kind::fixed;
    threshold.fixed_ns = round_duration(state.value_ns);
    return threshold;
}

} // namespace

Drill drill_to_gap(const Model& model, const ProbeInfo& probe, const WeightedHistogram& durations,
                   uint64_t from_ns, bool up) {
    const uint64_t visible = model.visible_from_ns();
    // What cannot be seen is passed over.
    auto gap = next_duration_gap(
        durations, up ? std::max(from_ns, std::max<uint64_t>(visible, 1) - 1) : from_ns, up);
    if (gap && *gap < visible)
        gap.reset();
    if (!gap)
        return {"",
                fmt::format(
                    "no gap between durations {} {}: {} {} move by bars", up ? "above" : "below",
                    format_duration(static_cast<double>(std::max(from_ns, up ? visible : from_ns))),
                    key_name(Action::threshold_down), key_name(Action::threshold_up))};
    const std::string word = spell_word(probe.text), bound = spell_duration(*gap);
    const SplitInfo& split = model.split();
    const bool has_split =
        split.active && split.probe == probe.id && split.threshold.kind != Threshold::Kind::none;
    return {has_split ? fmt::format("threshold {} {}", word, bound)
                      : fmt::format("split {} > {}", word, bound),
            ""};
}

Drill drill_at_probe(Action action, const Model& model, const std::string& text) {
    const std::string word = spell_word(text);
    const ProbeInfo* probe = nullptr;
    for (const auto& [number, known] : model.probes())
        if (!known.deleted && known.text == text)
            probe = &known;
    switch (action) {
    case Action::time_it:
        return {"time " + word, ""};
    case Action::split_on_it:
        return {fmt::format("split {} > {}", word, first_threshold(model, probe)), ""};
    case Action::slow_it:
        return {fmt::format("slow {} > {}", word, spell_threshold(slow_threshold(model, probe))),
                ""};
    case Action::open_calls:
        if (!probe)
            return {"", fmt::format("{} is not timed: {} times it", display_name(text),
                                    key_name(Action::time_it))};
        return {"open " + word, ""};
    case Action::delete_probe:
        if (!probe)
            return {"", fmt::format("{} is not timed", display_name(text))};
        return {"delete " + word, ""};
    default:
        return {"", "nothing to do here"};
    }
}

Drill drill_command(Action action, const Model& model, const Scope& scope, const Subject& subject) {
    if (action == Action::threshold_up || action == Action::threshold_down)
        return move_threshold(model, action == Action::threshold_up);
    if (action == Action::gap_up || action == Action::gap_down)
        return move_to_gap(model, action == Action::gap_up);
    if (action == Action::only_this && !model.only().text.empty())
        return {"only off", ""};
    const bool of_calls = action != Action::only_this && action != Action::call_sites;
    const ProbeInfo* probe = subject.probe && of_calls ? model.find_probe(*subject.probe) : nullptr;
    if (probe && !probe->deleted)
        return drill_at_probe(action, model, probe->text);
    if (!subject.function)
        return {"", "no function is under the cursor"};

    const auto function = function_of_target(model, scope, subject);
    if (!function)
        return {"", fmt::format("{} is {}, and no function around it that can be timed is known",
                                display_name(model.symbols().name(*subject.function)),
                                why_no_probe(model.symbols(), *subject.function))};
    const std::vector<FunctionId> found = model.symbols().found_as(*function);
    if (found.size() != 1)
        return {"", fmt::format("rules show {} functions as {}: name the one that is meant",
                                found.size(), display_name(model.symbols().name(*function)))};
    if (is_an_address(model.symbols(), found[0]))
        return {"", fmt::format("{} has no name, or none yet",
                                display_name(model.symbols().name(*function)))};
    const std::string text = probe_text_of(model, found[0]);
    std::string note;
    if (*function != *subject.function)
        note = fmt::format("{} is {}: this is of {}, around it",
                           display_name(model.symbols().name(*subject.function)),
                           why_no_probe(model.symbols(), *subject.function),
                           display_name(model.symbols().name(*function)));
    switch (action) {
    case Action::only_this:
        return {"only in " + spell_word(text), "", note};
    case Action::call_sites:
        return {"sites " + spell_word(text), "", note};
    default: {
        Drill drill = drill_at_probe(action, model, text);
        drill.note = note;
        return drill;
    }
    }
}

} // namespace auger
