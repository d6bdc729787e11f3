// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/hints.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

Hint step(Action action, std::string text) {
    return {key_name(action), std::move(text), true};
}

Hint plain(Action action) {
    for (const KeyRow& row : key_table()) {
        if (row.action == action)
            return {name_of(row.keys.front()), std::string(row.hint), false};
    }
    return {};
}

bool any_slow(const Model& model) {
    return std::ranges::any_of(model.probes(), [](const auto& p) {
        return !p.second.deleted && p.second.slow.kind != Threshold::Kind::none;
    });
}

std::vector<Hint> steps_in_calls(const Surroundings& here) {
    std::vector<Hint> steps;
    if (!here.call)
        return {step(Action::class_filter, here.filtered ? "other classes" : "only slow")};
    if (!here.filtered)
        steps.push_back(step(Action::class_filter, "only those in slow calls"));
    if (!here.site)
        steps.push_back(step(Action::call_sites, "the line it was called from, to trace that"));
    steps.push_back(step(Action::enter, "in full"));
    return steps;
}

std::vector<Hint> what_to_time(const ScreenState& state, const Surroundings& here) {
    std::vector<Hint> steps;
    if (!state.spans_of.empty())
        steps.push_back(step(Action::time_suggested,
                             fmt::format("times whole requests of {}", state.spans_of)));
    else if (!here.suggested.empty())
        steps.push_back(step(Action::time_suggested,
                             here.suggested_next.empty()
                                 ? "times " + here.suggested + ", which does the work"
                                 : fmt::format("times {}, which does the work; again: {}",
                                               here.suggested, here.suggested_next)));
    if (here.function) {
        steps.push_back(step(Action::time_it, "times the function under the cursor"));
    } else {
        steps.push_back({"arrows", "to a function", true});
        steps.push_back(step(Action::search, "finds one"));
        steps.push_back(step(Action::time_it, "then times it"));
    }
    return steps;
}

// The way from "some calls are slow" to the call that is to blame, one step at a time.
std::vector<Hint> next_steps(const Model& model, const ScreenState& state,
                             const Surroundings& here) {
    if (here.strip)
        return {step(Action::select_range, "begins and ends a span of time"),
                step(Action::back, "to the pane above")};
    if (model.samples_received() == 0 && state.rate_hz <= 0 && !state.replaying)
        return {step(Action::command, state.target.empty()
                                          ? "target -p PID, Enter: chooses what is observed"
                                          : "sample wall 999, Enter: begins to sample")};
    if (!any_probe(model))
        return what_to_time(state, here);
    if (here.pane == Action::histogram)
        return {{key_name(Action::threshold_down) + " " + key_name(Action::threshold_up),
                 "move the threshold", true},
                step(Action::gap_up, "to the next gap"),
                step(Action::select_range, "begins and ends a range of durations")};
    if (here.pane == Action::threads)
        return {step(Action::enter, "observes only that thread")};
    if (!model.split().active) {
        if (here.timed)
            return {step(Action::split_on_it, "splits by its p95"),
                    step(Action::histogram, "its durations")};
        return {{"", "go to the timed function:", true},
                step(Action::split_on_it, "splits by its p95"),
                step(Action::histogram, "durations")};
    }
    if (model.split_near_sample_gap())
        return {step(Action::gap_up, "to a threshold that samples can see"),
                step(Action::histogram, "durations")};
    if (here.pane == Action::flame)
        return {step(Action::difference, "shows what slow calls do differently"),
                step(Action::class_filter, "only slow")};
    if (here.pane == Action::difference && !any_slow(model))
        return {step(Action::slow_it, "traces slow calls of this function"),
                step(Action::enter, "shows it in the flame")};
    if (here.pane == Action::calls)
        return steps_in_calls(here);
    if (any_slow(model))
        return {step(Action::calls, "lists the slow calls"),
                step(Action::call_sites, "where it is called from")};
    if (here.function)
        return {step(Action::slow_it, "traces slow calls of this function"),
                step(Action::call_sites, "where it is called from")};
    return {{"arrows", "to a function", true}, step(Action::slow_it, "traces its slow calls")};
}

} // namespace

bool any_probe(const Model& model) {
    return std::ranges::any_of(model.probes(), [](const auto& p) { return !p.second.deleted; });
}

std::vector<Hint> hints_for(const Model& model, const ScreenState& state,
                            const Surroundings& here) {
    std::vector<Hint> hints;
    if (here.frozen)
        hints.push_back({key_name(Action::freeze), "goes on (frozen)", true});
    for (Hint& hint : next_steps(model, state, here))
        hints.push_back(std::move(hint));
    if (here.searching)
        hints.push_back({key_name(Action::next_match) + " " + key_name(Action::previous_match),
                         "other matches", true});
    const std::initializer_list<Action> always = {Action::help,      Action::enter,  Action::back,
                                                  Action::next_pane, Action::search, Action::undo,
                                                  Action::freeze,    Action::leave};
    for (Action action : always) {
        Hint hint = plain(action);
        if (std::ranges::find(hints, hint.key, &Hint::key) == hints.end())
            hints.push_back(std::move(hint));
    }
    return hints;
}

std::vector<Hint> pager_hints(bool choosing, bool searching) {
    std::vector<Hint> hints;
    if (choosing) {
        hints.push_back(step(Action::slow_it, "traces slow calls from this line"));
        hints.push_back(step(Action::enter, "times them all"));
    }
    if (searching)
        hints.push_back(plain(Action::next_match));
    hints.push_back({key_name(Action::back), searching ? "ends the search" : "closes", true});
    hints.push_back(plain(Action::search));
    return hints;
}

void draw_hints(Canvas& canvas, size_t y, const std::vector<Hint>& hints) {
    size_t x = 0;
    for (const Hint& hint : hints) {
        const size_t gap = x ? 2 : 0;
        const size_t needed =
            gap + text_width(hint.key) + (hint.key.empty() ? 0 : 1) + text_width(hint.text);
        if (x + needed > canvas.width()) {
            if (hint.guiding)
                continue;
            break;
        }
        x += gap;
        if (!hint.key.empty())
            x = canvas.put(x, y, hint.key, Style::title) + 1;
        x = canvas.put(x, y, hint.text, hint.guiding ? Style::plain : Style::dim);
    }
}

} // namespace auger
