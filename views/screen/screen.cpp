// SPDX-License-Identifier: GPL-3.0-or-later
// What every key does, and where everything stands. A key goes to what lies in front: the line
// being typed, the pager, the pane with the focus, then the screen itself.
#include "views/screen/screen.h"

#include "views/escape.h"
#include "views/model/classifier.h"
#include "views/screen/answer_note.h"
#include "views/screen/drill.h"
#include "views/screen/hints.h"
#include "views/screen/key_help.h"
#include "views/screen/line_editor.h"
#include "views/screen/pager.h"
#include "views/screen/panes.h"
#include "views/screen/scope_steps.h"
#include "views/screen/site_list.h"
#include "views/screen/source_page.h"
#include "views/screen/status_line.h"
#include "views/short_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr size_t strip_rows = 3;
constexpr size_t least_height_for_strip = 18;

} // namespace

class Screen::Implementation {
  public:
    Implementation(const Model& model, ScreenOptions options)
        : model_(model), options_(std::move(options)) {
        for (const PaneRow& row : pane_table()) {
            panes_.push_back({&row, row.make({options_.unicode})});
            if (row.action == Action::strip)
                strip_ = panes_.size() - 1;
        }
    }

    bool show(std::string_view name);
    bool refresh(const ScreenState&);
    Canvas draw(size_t width, size_t height);
    std::vector<Request> press(const Key&);
    void answer(const Answer&);
    // What happened meanwhile does not take the place of an answer that nobody has read yet.
    void notice(std::string_view line) {
        if (note_.empty())
            note_.say(line, false);
    }

  private:
    static constexpr size_t nowhere = SIZE_MAX;
    struct Shown {
        const PaneRow* row;
        std::unique_ptr<Pane> pane;
        bool stale = true; // has not taken in the scope in force, or what a command changed
    };
    enum class Typing { nothing, command, search };

    Pane& focused() { return *panes_[strip_focused_ ? strip_ : front_].pane; }
    std::optional<size_t> place_of(Action) const;

    // Keys.
    void type(const Key&);
    void click(const Key&);
    void act(Action);
    void act_in_pager(Action);
    void act_here(Action);
    void bring_to_front(size_t pane);
    void next_pane(bool forward);
    void step_back();
    void reset();
    void turn_to(Action);
    void drill(Action);
    void show_source();
    void search(const std::optional<std::string>& expression);
    void grant(const std::vector<Wish>&);
    void set_scope(const Scope&);
    void run(const std::string& line);
    void ask(Request::Kind kind) { requests_.push_back({kind, {}}); }
    void tell(std::string_view text) { note_.say(text, false); }

    // Drawing.
    void draw_tabs(Canvas&, size_t y);
    void draw_bottom(Canvas&, size_t y);
    Surroundings surroundings();

    const Model& model_;
    ScreenOptions options_;
    std::vector<Shown> panes_;
    size_t front_ = 0;
    size_t strip_ = nowhere;
    bool strip_shown_ = true;
    bool strip_focused_ = false;
    ScreenState state_;
    Scope scope_;
    bool frozen_ = false;

    Typing typing_ = Typing::nothing;
    LineEditor command_line_, search_line_;
    bool searching_ = false;
    std::optional<Pager> pager_;
    AnswerNote note_;
    std::string last_command_;
    std::string site_function_; // whose call sites were asked for
    std::vector<Request> requests_;

    // As drawn last, for the mouse.
    Rect body_, strip_area_;
    std::vector<std::pair<size_t, size_t>> tabs_; // columns of each, from and to
};

std::optional<size_t> Screen::Implementation::place_of(Action action) const {
    for (size_t i = 0; i < panes_.size(); i++) {
        if (panes_[i].row->action == action)
            return i;
    }
    return std::nullopt;
}

bool Screen::Implementation::show(std::string_view name) {
    for (size_t i = 0; i < panes_.size(); i++) {
        if (panes_[i].row->name == name) {
            bring_to_front(i);
            return true;
        }
    }
    return false;
}

bool Screen::Implementation::refresh(const ScreenState& state) {
    const bool window_changed = !(state.window == state_.window);
    state_ = state;
    if (window_changed) {
        Scope scope = scope_;
        scope.window = state.window;
        set_scope(scope);
    }
    // The class that was shown may have gone with the split.
    if (!scope_.filter.all() && lacking_part(model_, scope_.filter)) {
        Scope scope = scope_;
        scope.filter = {};
        set_scope(scope);
    }
    bool more = false;
    for (size_t i = 0; i < panes_.size(); i++) {
        Shown& shown = panes_[i];
        // The flame goes on behind the others: the status line tells of its classes.
        const bool needed =
            i == front_ || (i == strip_ && strip_shown_) || shown.row->action == Action::flame;
        if (!needed || (frozen_ && !shown.stale))
            continue;
        shown.stale = shown.pane->refresh(model_, scope_);
        more |= shown.stale;
    }
    return more;
}

void Screen::Implementation::set_scope(const Scope& scope) {
    if (scope == scope_)
        return;
    scope_ = scope;
    for (Shown& shown : panes_)
        shown.stale = true;
}

Canvas Screen::Implementation::draw(size_t width, size_t height) {
    Canvas canvas(width);
    body_ = strip_area_ = {};
    tabs_.clear();
    if (width == 0 || height == 0)
        return canvas;
    // From the bottom: what the user types and reads matters most.
    const size_t bottom = height - 1;
    size_t end = bottom;
    const size_t hint_row = height >= 4 ? --end : height;
    size_t begin = 0;
    if (height >= 5) {
        std::optional<ClassSums> sums;
        if (const auto flame = place_of(Action::flame))
            sums = panes_[*flame].pane->shown_sums();
        draw_status_line(canvas, begin++, model_, state_, sums.value_or(ClassSums{}), frozen_,
                         options_.unicode);
    }
    if (height >= 6)
        draw_tabs(canvas, begin++);
    if (strip_ != nowhere && (strip_focused_ || strip_shown_) && !pager_ &&
        height >= (strip_focused_ ? 9 : least_height_for_strip)) {
        end -= strip_rows;
        strip_area_ = {0, end, width, strip_rows};
    }
    body_ = {0, begin, width, end > begin ? end - begin : 0};
    if (pager_) {
        pager_->draw(canvas, body_);
    } else {
        panes_[front_].pane->draw(canvas, body_, !strip_focused_);
        if (strip_area_.height)
            panes_[strip_].pane->draw(canvas, strip_area_, strip_focused_);
    }
    note_.draw(canvas, std::min(hint_row, bottom));
    if (hint_row < height)
        draw_hints(canvas, hint_row,
                   pager_ ? pager_hints(pager_->choosing(), pager_->searching())
                          : hints_for(model_, state_, surroundings()));
    draw_bottom(canvas, bottom);
    return canvas;
}

Surroundings Screen::Implementation::surroundings() {
    const auto function = focused().selected();
    return {panes_[front_].row->action,
            function.has_value(),
            function && probe_of(model_, *function),
            searching_,
            frozen_,
            strip_focused_};
}

void Screen::Implementation::draw_tabs(Canvas& canvas, size_t y) {
    const size_t width = canvas.width();
    size_t x = 0;
    for (size_t i = 0; i < panes_.size(); i++) {
        const bool here = strip_focused_ ? i == strip_ : i == front_;
        // Where there is little room, only the tab in front has its name.
        const std::string text =
            fmt::format("{}{}{}", key_name(panes_[i].row->action), here || width >= 100 ? " " : "",
                        here || width >= 100 ? panes_[i].row->name : "");
        const std::string drawn = here ? "[" + text + "]" : " " + text + " ";
        const size_t end = canvas.put(x, y, drawn, here ? Style::title : Style::dim);
        tabs_.emplace_back(x, end);
        x = end;
    }
    std::vector<std::string> crumbs;
    if (!scope_.filter.all())
        crumbs.push_back(to_string(scope_.filter));
    for (const std::string& crumb : panes_[front_].pane->crumbs(model_))
        crumbs.push_back(display_name(crumb));
    const std::string_view between = options_.unicode ? " › " : " > ";
    const size_t room = width > x + 2 ? width - x - 2 : 0;
    std::string line;
    for (const std::string& crumb : crumbs)
        line += std::string(between) + elide_middle(crumb, 40, options_.unicode ? "…" : "...");
    if (room >= 8)
        canvas.put(x, y, elide_middle(escape_untrusted(line), room, options_.unicode ? "…" : "..."),
                   Style::name);
}

void Screen::Implementation::draw_bottom(Canvas& canvas, size_t y) {
    if (typing_ == Typing::command)
        return command_line_.draw(canvas, y);
    if (typing_ == Typing::search)
        return search_line_.draw(canvas, y);
    size_t x = 0;
    if (!note_.empty() && note_.one_line()) {
        if (!last_command_.empty())
            x = canvas.put(x, y, last_command_ + (options_.unicode ? " → " : ": "), Style::dim);
        canvas.put(x, y, note_.line(), note_.failed() ? Style::warning : Style::plain);
        return;
    }
    if (!last_command_.empty() && !note_.empty()) {
        canvas.put(x, y, last_command_, Style::dim);
        return;
    }
    // The command that answers with what is shown.
    x = canvas.put(x, y, "> ", Style::dim);
    canvas.put(x, y, focused().command(), Style::dim);
}

std::vector<Request> Screen::Implementation::press(const Key& key) {
    requests_.clear();
    using Code = Key::Code;
    if (typing_ != Typing::nothing) {
        type(key);
    } else if (key.code == Code::mouse_press || key.code == Code::mouse_double) {
        click(key);
    } else if (key.code == Code::wheel_up || key.code == Code::wheel_down) {
        act(key.code == Code::wheel_up ? Action::up : Action::down);
    } else if (const auto action = action_of(key)) {
        note_.clear();
        last_command_.clear();
        act(*action);
    }
    return std::move(requests_);
}

void Screen::Implementation::type(const Key& key) {
    LineEditor& line = typing_ == Typing::command ? command_line_ : search_line_;
    const LineEditor::Outcome outcome = line.press(key);
    if (outcome == LineEditor::Outcome::typing)
        return;
    const Typing was = std::exchange(typing_, Typing::nothing);
    if (outcome == LineEditor::Outcome::cancelled || line.text().empty())
        return;
    if (was == Typing::command)
        run(line.text());
    else
        search(line.text());
}

void Screen::Implementation::click(const Key& key) {
    const bool twice = key.code == Key::Code::mouse_double;
    note_.clear();
    if (pager_) {
        if (body_.contains(key.x, key.y) && pager_->click(key.y, twice) == Pager::Outcome::chosen)
            act_in_pager(Action::enter);
        return;
    }
    for (size_t i = 0; i < tabs_.size(); i++) {
        if (key.y == 1 && key.x >= tabs_[i].first && key.x < tabs_[i].second)
            return bring_to_front(i);
    }
    std::vector<Wish> wishes;
    if (strip_area_.contains(key.x, key.y)) {
        strip_focused_ = true;
        panes_[strip_].pane->click(key.x, key.y, twice, model_, scope_, wishes);
    } else if (body_.contains(key.x, key.y)) {
        strip_focused_ = false;
        panes_[front_].pane->click(key.x, key.y, twice, model_, scope_, wishes);
    }
    grant(wishes);
}

void Screen::Implementation::act(Action action) {
    switch (action) {
    case Action::suspend:
        return ask(Request::Kind::suspend);
    case Action::redraw:
        return ask(Request::Kind::redraw);
    case Action::command:
        typing_ = Typing::command;
        return command_line_.start(":");
    case Action::search:
        typing_ = Typing::search;
        return search_line_.start("/");
    case Action::help:
        pager_.emplace("Keys", key_help());
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
    switch (pager_->act(action)) {
    case Pager::Outcome::open:
        break;
    case Pager::Outcome::chosen: {
        const std::string command = pager_->current().run;
        pager_.reset();
        run(command);
        break;
    }
    case Pager::Outcome::closed:
        pager_.reset();
        break;
    }
}

void Screen::Implementation::act_here(Action action) {
    if (const auto pane = place_of(action)) {
        if (*pane == strip_ && strip_focused_) {
            strip_shown_ = strip_focused_ = false;
            return;
        }
        if (*pane == front_ && !strip_focused_)
            return;
        const auto function = focused().selected();
        bring_to_front(*pane);
        if (function && *pane != strip_)
            focused().turn_to(*function, action, model_);
        return;
    }
    switch (action) {
    case Action::leave:
        return ask(Request::Kind::leave);
    case Action::undo:
        return run("undo");
    case Action::next_pane:
    case Action::previous_pane:
        return next_pane(action == Action::next_pane);
    case Action::reset:
        return reset();
    case Action::freeze:
        frozen_ = !frozen_;
        return;
    case Action::longer:
    case Action::shorter:
        return run(window_command(step_window(state_.window, action == Action::longer),
                                  model_.first_ns()));
    case Action::window_kind:
        return run(window_command(other_window(state_.window), model_.first_ns()));
    default:
        break;
    }
    std::vector<Wish> wishes;
    if (focused().act(action, model_, scope_, wishes))
        return grant(wishes);
    switch (action) {
    case Action::back:
        return step_back();
    case Action::class_filter: {
        Scope scope = scope_;
        if (!model_.split().active)
            return tell(fmt::format("there are no classes yet: {} at a function splits by it",
                                    key_name(Action::split_on_it)));
        scope.filter = next_filter(model_, scope.filter);
        return set_scope(scope);
    }
    case Action::group_by: {
        Scope scope = scope_;
        scope.by = static_cast<GroupBy>((static_cast<size_t>(scope.by) + 1) % group_names.size());
        return set_scope(scope);
    }
    case Action::source:
        return show_source();
    case Action::callers:
    case Action::callees:
    case Action::table:
        return turn_to(action);
    case Action::time_it:
    case Action::slow_it:
    case Action::split_on_it:
    case Action::only_this:
    case Action::call_sites:
    case Action::open_calls:
    case Action::delete_probe:
    case Action::threshold_up:
    case Action::threshold_down:
        return drill(action);
    default:
        return;
    }
}

void Screen::Implementation::bring_to_front(size_t pane) {
    pager_.reset();
    if (pane == strip_) {
        strip_shown_ = strip_focused_ = true;
        return;
    }
    strip_focused_ = false;
    if (front_ != pane && searching_)
        search(std::nullopt);
    front_ = pane;
    panes_[front_].stale = true;
}

void Screen::Implementation::next_pane(bool forward) {
    const size_t now = strip_focused_ ? strip_ : front_;
    bring_to_front((now + (forward ? 1 : panes_.size() - 1)) % panes_.size());
}

void Screen::Implementation::step_back() {
    if (searching_)
        return search(std::nullopt);
    if (strip_focused_) {
        strip_focused_ = false;
        return;
    }
    if (!(scope_.window == state_.window) || !scope_.filter.all() ||
        scope_.by != GroupBy::process) {
        Scope scope;
        scope.window = state_.window;
        return set_scope(scope);
    }
    if (front_ != 0)
        return bring_to_front(0);
    ask(Request::Kind::leave);
}

void Screen::Implementation::reset() {
    if (searching_)
        search(std::nullopt);
    std::vector<Wish> wishes;
    focused().act(Action::reset, model_, scope_, wishes);
    frozen_ = strip_focused_ = false;
    Scope scope;
    scope.window = state_.window;
    set_scope(scope);
    grant(wishes);
}

// Callers and callees are another pane's business.
void Screen::Implementation::turn_to(Action action) {
    const auto function = focused().selected();
    const auto table = place_of(Action::table);
    if (!function)
        return tell("no function is under the cursor");
    if (!table || !panes_[*table].pane->turn_to(*function, action, model_))
        return tell("there is no pane that shows that");
    bring_to_front(*table);
}

void Screen::Implementation::drill(Action action) {
    const auto function = focused().selected();
    const Drill drill = drill_command(action, model_, function);
    if (drill.command.empty())
        return tell(drill.why_not);
    if (action == Action::call_sites)
        site_function_ = probe_text_of(model_, *function);
    run(drill.command);
}

void Screen::Implementation::show_source() {
    const auto function = focused().selected();
    if (!function)
        return tell("no function is under the cursor");
    auto page = source_page(model_, scope_, *function, options_.read_source);
    if (!page)
        return note_.say(page.error().message(), true);
    pager_ = std::move(*page);
}

void Screen::Implementation::search(const std::optional<std::string>& expression) {
    searching_ = expression.has_value();
    std::string said;
    if (pager_) {
        said = pager_->search(expression);
        searching_ = false; // the pager's own
    } else {
        said = focused().search(expression, model_);
    }
    note_.say(said, false);
}

void Screen::Implementation::grant(const std::vector<Wish>& wishes) {
    for (const Wish& wish : wishes) {
        switch (wish.kind) {
        case Wish::Kind::run:
            run(wish.text);
            break;
        case Wish::Kind::scope:
            set_scope(wish.scope);
            break;
        case Wish::Kind::show:
            show(wish.text);
            break;
        case Wish::Kind::tell:
            tell(wish.text);
            break;
        case Wish::Kind::ask:
            typing_ = Typing::command;
            command_line_.start(":", wish.text);
            break;
        }
    }
}

void Screen::Implementation::run(const std::string& line) {
    last_command_ = line;
    requests_.push_back({Request::Kind::run, line});
}

void Screen::Implementation::answer(const Answer& answer) {
    last_command_ = answer.line;
    // What was collected may be classed anew, also while the screen is frozen.
    for (Shown& shown : panes_)
        shown.stale = true;
    std::vector<PagerLine> lines = Pager::lines_of(answer.text);
    if (!answer.failed && !site_function_.empty()) {
        mark_sites(lines, std::exchange(site_function_, {}));
        pager_.emplace(answer.line, std::move(lines));
        return;
    }
    site_function_.clear();
    if (lines.size() > AnswerNote::most_lines) {
        pager_.emplace(answer.line, std::move(lines));
        return;
    }
    note_.say(answer.text, answer.failed);
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

bool Screen::refresh(const ScreenState& state) {
    return implementation_->refresh(state);
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
