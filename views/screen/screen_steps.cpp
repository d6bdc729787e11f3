// SPDX-License-Identifier: GPL-3.0-or-later
// What keys bring about: other panes, steps back, commands at a function, what a pane wishes.
#include "views/screen/screen_implementation.h"

#include "views/model/function_probe.h"
#include "views/model/suggestions.h"
#include "views/screen/drill.h"
#include "views/screen/hints.h"
#include "views/screen/scope_steps.h"
#include "views/screen/site_list.h"
#include "views/screen/source_page.h"
#include "views/screen/target_function.h"
#include "views/short_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

constexpr size_t looked_at = 50'000; // samples, for what to time

} // namespace

void Screen::Implementation::bring(size_t pane) {
    pager_.reset();
    if (searching_ && pane != panes_.focus())
        search(std::nullopt);
    panes_.bring(pane);
}

// A pane that is left at a function takes it along.
void Screen::Implementation::bring_pane_of(Action action, size_t pane) {
    if (pane == panes_.focus()) {
        if (pane == panes_.strip())
            panes_.hide_strip();
        return;
    }
    const auto function = panes_.focused().subject().function;
    bring(pane);
    if (function && pane != panes_.strip())
        panes_.pane(pane).turn_to(*function, action, model_);
}

void Screen::Implementation::step_back() {
    if (searching_)
        return search(std::nullopt);
    if (panes_.strip_focused())
        return panes_.leave_strip();
    if (panes_.frozen())
        return panes_.freeze(false, model_);
    if (!panes_.scope().filter.all() || panes_.scope().by != GroupBy::process)
        return panes_.choose({}, GroupBy::process);
    if (state_.window.end_ns) {
        Window live = state_.window;
        live.end_ns = 0;
        return run(window_command(live, model_.first_ns()));
    }
    if (panes_.front() != 0)
        return bring(0);
    tell(fmt::format("there is no step back from here; {} goes to the prompt",
                     key_name(Action::leave)));
}

void Screen::Implementation::reset() {
    if (searching_)
        search(std::nullopt);
    std::vector<Wish> wishes;
    panes_.focused().act(Action::reset, model_, panes_.scope(), wishes);
    if (panes_.strip() && !panes_.strip_focused()) // a span selected there narrows all
        panes_.pane(*panes_.strip()).act(Action::reset, model_, panes_.scope(), wishes);
    panes_.leave_strip();
    panes_.freeze(false, model_);
    panes_.choose({}, GroupBy::process);
    grant(wishes);
}

void Screen::Implementation::next_class() {
    if (!model_.split().active)
        return tell(fmt::format("there are no classes yet: {} at a function splits by it",
                                key_name(Action::split_on_it)));
    panes_.choose(next_filter(model_, panes_.scope().filter), panes_.scope().by);
}

// Callers and callees are another pane's business.
void Screen::Implementation::turn_to(Action action) {
    const auto function = panes_.focused().subject().function;
    if (!function)
        return tell("no function is under the cursor");
    const auto table = panes_.find(Action::table);
    if (!table || !panes_.pane(*table).turn_to(*function, action, model_))
        return tell("there is no pane that shows that");
    bring(*table);
}

void Screen::Implementation::drill(Action action) {
    const Subject subject = panes_.focused().subject();
    if (action == Action::time_it && propose_span(subject))
        return;
    const Drill drill = drill_command(action, model_, panes_.scope(), subject);
    if (drill.command.empty())
        return tell(drill.why_not);
    if (action == Action::call_sites)
        sites_of_ = subject;
    drill_note_ = drill.note;
    run(drill.command);
}

// Calls of an event loop's functions are no requests, which take turns in them: the span that
// times those is typed, to be entered. At the second time it is the function that is meant.
bool Screen::Implementation::propose_span(const Subject& subject) {
    if (subject.probe || !subject.function)
        return false;
    const auto function = function_of_target(model_, panes_.scope(), subject);
    if (!function || std::exchange(proposed_at_, function) == function)
        return false;
    const bool has_spans = std::ranges::any_of(model_.probes(), [](const auto& probe) {
        return !probe.second.deleted && !probe.second.span.empty();
    });
    if (has_spans ||
        !std::ranges::binary_search(suggest_functions(model_, looked_at).loops, *function))
        return false;
    tell(fmt::format(
        "{} is part of an event loop, where requests are interleaved.\nEnter times each "
        "request; Esc, then {} again, times this function.",
        display_name(model_.symbols().name(*function)), key_name(Action::time_it)));
    type_command(state_.spans_of.empty() ? "span requests exchanges" : "span auto");
    return true;
}

void Screen::Implementation::time_suggested() {
    if (!state_.spans_of.empty() && !any_probe(model_))
        return run("span auto");
    for (const Suggestion& one : suggest_functions(model_, looked_at).functions) {
        if (probe_of(model_, one.function))
            continue;
        bring(0);
        panes_.focused().turn_to(one.function, Action::enter, model_);
        const FunctionId found = model_.symbols().found_as(one.function)[0];
        return run(drill_at_probe(Action::time_it, model_, probe_text_of(model_, found)).command);
    }
    tell("no other function is suggested: \"suggest\" says what samples tell");
}

// Begins at the place from where it was called here.
void Screen::Implementation::show_sites(const Subject& subject, const std::string& title,
                                        std::vector<PagerLine> lines) {
    const auto function = function_of_target(model_, panes_.scope(), subject);
    if (!function)
        return;
    mark_sites(lines, std::string(model_.symbols().name(*function)));
    std::string caller;
    const auto at = std::ranges::find(subject.callers, *function);
    const auto around = at == subject.callers.end() ? subject.callers.begin() : at + 1;
    if (around != subject.callers.end())
        caller = display_name(model_.symbols().name(*around));
    const auto here = find_site(lines, subject.lines, caller);
    pager_.emplace(title, std::move(lines));
    if (here)
        pager_->go_to(*here);
}

void Screen::Implementation::show_source() {
    const auto function = panes_.focused().subject().function;
    if (!function)
        return tell("no function is under the cursor");
    auto page = source_page(model_, panes_.scope(), *function, options_.read_source);
    if (!page)
        return note_.say(page.error().message(), true);
    pager_ = std::move(*page);
}

void Screen::Implementation::search(const std::optional<std::string>& expression) {
    last_command_.clear();
    if (pager_)
        return note_.say(pager_->search(expression), false);
    note_.say(panes_.focused().search(expression, model_), false);
    searching_ = expression.has_value();
}

void Screen::Implementation::grant(const std::vector<Wish>& wishes) {
    for (const Wish& wish : wishes) {
        switch (wish.kind) {
        case Wish::Kind::run:
            run(wish.text);
            break;
        case Wish::Kind::scope:
            panes_.choose(wish.scope.filter, wish.scope.by);
            break;
        case Wish::Kind::show: {
            const auto function = panes_.focused().subject().function;
            if (show(wish.text) && function)
                panes_.focused().turn_to(*function, Action::enter, model_);
            break;
        }
        case Wish::Kind::tell:
            tell(wish.text);
            break;
        case Wish::Kind::ask:
            type_command(wish.text);
            break;
        }
    }
}

void Screen::Implementation::run(const std::string& line) {
    requests_.push_back({Request::Kind::run, line});
}

void Screen::Implementation::tell(std::string_view text) {
    last_command_.clear();
    note_.say(text, false);
}

} // namespace auger
