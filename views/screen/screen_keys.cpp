// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/screen_implementation.h"

#include "views/screen/drill.h"
#include "views/screen/key_help.h"
#include "views/screen/scope_steps.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr const char* keys_title = "Keys";

} // namespace

std::vector<Request> Screen::Implementation::press(const Key& key) {
    using Code = Key::Code;
    requests_.clear();
    if (typing_ != Typing::nothing) {
        type(key);
        return std::move(requests_);
    }
    if (key.pasted) {
        tell(fmt::format("pasted text is not taken as keys: {} or {} first takes it as a line",
                         key_name(Action::command), key_name(Action::search)));
        return std::move(requests_);
    }
    if (key.code == Code::mouse_press || key.code == Code::mouse_double) {
        note_.clear();
        click(key);
    } else if (key.code == Code::wheel_up || key.code == Code::wheel_down) {
        act(key.code == Code::wheel_up ? Action::up : Action::down);
    } else if (const auto action = action_of(key)) {
        note_.clear();
        act(*action);
    }
    return std::move(requests_);
}

void Screen::Implementation::type_command(std::string text) {
    typing_ = Typing::command;
    command_line_.set_complete(options_.complete);
    if (options_.past_commands)
        command_line_.set_history(options_.past_commands());
    command_line_.start(":", std::move(text));
}

void Screen::Implementation::type(const Key& key) {
    LineEditor& line = typing_ == Typing::command ? command_line_ : search_line_;
    const LineEditor::Outcome outcome = line.press(key);
    if (outcome == LineEditor::Outcome::typing)
        return;
    const Typing was = std::exchange(typing_, Typing::nothing);
    note_.clear(); // what was proposed
    if (outcome == LineEditor::Outcome::cancelled || line.text().empty())
        return;
    if (was == Typing::command)
        run(line.text());
    else
        search(line.text());
}

void Screen::Implementation::click(const Key& key) {
    const bool twice = key.code == Key::Code::mouse_double;
    if (pager_) {
        if (body_.contains(key.x, key.y) && pager_->click(key.y, twice) == Pager::Outcome::chosen)
            act_in_pager(Action::enter);
        return;
    }
    for (size_t i = 0; i < tabs_.size(); i++) {
        if (tab_area_.contains(key.x, key.y) && key.x >= tabs_[i].first && key.x < tabs_[i].second)
            return bring(i);
    }
    std::vector<Wish> wishes;
    if (strip_area_.contains(key.x, key.y))
        bring(*panes_.strip());
    else if (body_.contains(key.x, key.y))
        panes_.leave_strip();
    else
        return;
    panes_.focused().click(key.x, key.y, twice, model_, panes_.scope(), wishes);
    grant(wishes);
}

void Screen::Implementation::act(Action action) {
    switch (action) {
    case Action::suspend:
        return ask(Request::Kind::suspend);
    case Action::redraw:
        return ask(Request::Kind::redraw);
    case Action::command:
        return type_command();
    case Action::search:
        typing_ = Typing::search;
        return search_line_.start("/");
    case Action::help:
        if (pager_ && pager_->title() == keys_title)
            pager_.reset();
        else
            pager_.emplace(keys_title, key_help());
        return;
    default:
        break;
    }
    if (pager_)
        act_in_pager(action);
    else
        act_here(action);
}

void Screen::Implementation::act_in_pager(Action action) {
    const Pager::Outcome outcome = pager_->act(action);
    if (outcome == Pager::Outcome::open)
        return;
    const std::string probe = pager_->current().probe;
    pager_.reset();
    if (outcome == Pager::Outcome::chosen)
        run(drill_at_probe(action == Action::enter ? Action::time_it : action, model_, probe)
                .command);
}

void Screen::Implementation::act_here(Action action) {
    if (const auto pane = panes_.find(action))
        return bring_pane_of(action, *pane);
    if (act_on_screen(action))
        return;
    std::vector<Wish> wishes;
    if (panes_.focused().act(action, model_, panes_.scope(), wishes))
        return grant(wishes);
    switch (action) {
    case Action::back:
        return step_back();
    case Action::class_filter:
        return next_class();
    case Action::group_by:
        return panes_.choose(panes_.scope().filter, panes_.scope().by.next());
    default:
        return act_at_function(action);
    }
}

// What no pane has a say in.
bool Screen::Implementation::act_on_screen(Action action) {
    const auto window = [&](const Window& wanted) {
        run(window_command(wanted, model_.first_ns()));
    };
    switch (action) {
    case Action::leave:
        ask(Request::Kind::leave);
        return true;
    case Action::undo:
        run("undo");
        return true;
    case Action::next_pane:
    case Action::previous_pane:
        if (searching_)
            search(std::nullopt);
        panes_.bring_next(action == Action::next_pane);
        return true;
    case Action::reset:
        reset();
        return true;
    case Action::freeze:
        panes_.freeze(!panes_.frozen(), model_);
        return true;
    case Action::longer:
    case Action::shorter:
        window(step_window(state_.window, action == Action::longer));
        return true;
    case Action::window_kind:
        window(other_window(state_.window));
        return true;
    default:
        return false;
    }
}

void Screen::Implementation::act_at_function(Action action) {
    switch (action) {
    case Action::source:
        return show_source();
    case Action::callers:
    case Action::callees:
        return turn_to(action);
    case Action::time_suggested:
        return time_suggested();
    case Action::time_it:
    case Action::slow_it:
    case Action::split_on_it:
    case Action::only_this:
    case Action::call_sites:
    case Action::open_calls:
    case Action::delete_probe:
    case Action::threshold_up:
    case Action::threshold_down:
    case Action::gap_up:
    case Action::gap_down:
        return drill(action);
    default:
        return;
    }
}

} // namespace auger
