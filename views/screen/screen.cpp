// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/screen.h"

#include "views/model/suggestions.h"
#include "views/screen/screen_implementation.h"
#include "views/screen/site_list.h"

namespace auger {

bool Screen::Implementation::show(std::string_view name) {
    const auto pane = panes_.find(name);
    if (pane)
        bring(*pane);
    return pane.has_value();
}

bool Screen::Implementation::refresh(const ScreenState& state, const TimeSlice& slice) {
    state_ = state;
    look_for_suggestion();
    return panes_.refresh(model_, state_.window, state_.filter, slice);
}

// While nothing is timed, and not often: it takes some milliseconds.
void Screen::Implementation::look_for_suggestion() {
    constexpr uint64_t pause_ns = 1'000'000'000;
    constexpr size_t looked_at = 5'000; // samples
    if (any_probe(model_)) {
        suggested_.clear();
        suggested_ns_ = 0;
        return;
    }
    if (model_.now_ns() < suggested_ns_ + pause_ns)
        return;
    suggested_ns_ = model_.now_ns();
    suggested_.clear();
    for (const Suggestion& one : suggest_functions(model_, looked_at).functions)
        suggested_.push_back(one.function);
}

void Screen::Implementation::answer(const Answer& answer) {
    last_command_ = answer.line;
    panes_.mark_stale();
    const auto sites_of = std::exchange(sites_of_, std::nullopt);
    std::string text = std::exchange(drill_note_, {});
    text += (text.empty() ? "" : "\n") + answer.text;
    std::vector<PagerLine> lines = Pager::lines_of(text);
    if (!answer.failed && sites_of)
        return show_sites(*sites_of, answer.line, std::move(lines));
    if (lines.size() <= AnswerNote::most_lines)
        return note_.say(text, answer.failed);
    pager_.emplace(answer.line, std::move(lines));
}

// What happened meanwhile does not take the place of an answer that nobody has read yet.
void Screen::Implementation::notice(std::string_view line) {
    if (note_.empty())
        tell(line);
}

Screen::Screen(const Model& model, ScreenOptions options)
    : implementation_(std::make_unique<Implementation>(model, std::move(options))) {}
Screen::~Screen() = default;

bool Screen::show(std::string_view pane) {
    return implementation_->show(pane);
}

std::vector<std::string_view> Screen::pane_names() {
    std::vector<std::string_view> names;
    for (const PaneRow& row : pane_table())
        names.push_back(row.name);
    return names;
}

bool Screen::refresh(const ScreenState& state, const TimeSlice& slice) {
    return implementation_->refresh(state, slice);
}

Canvas Screen::draw(size_t width, size_t height) {
    return implementation_->draw(width, height);
}

std::vector<Request> Screen::press(const Key& key) {
    return implementation_->press(key);
}

void Screen::answer(const Answer& answer) {
    implementation_->answer(answer);
}

void Screen::notice(std::string_view line) {
    implementation_->notice(line);
}

} // namespace auger
