// SPDX-License-Identifier: GPL-3.0-or-later
// The screen's parts. A key goes to what lies in front: the line being typed, the pager, the pane
// with the focus, then the screen itself (screen_keys.cpp; what comes of it: screen_steps.cpp).
// Where everything stands is in screen_drawing.cpp.
#pragma once

#include "views/screen/answer_note.h"
#include "views/screen/hints.h"
#include "views/screen/line_editor.h"
#include "views/screen/pager.h"
#include "views/screen/pane_set.h"
#include "views/screen/screen.h"

#include <utility>

namespace auger {

class Screen::Implementation {
  public:
    Implementation(const Model& model, ScreenOptions options)
        : model_(model), options_(std::move(options)), panes_({options_.unicode}) {}

    bool show(std::string_view name);
    bool refresh(const ScreenState&, const TimeSlice&);
    Canvas draw(size_t width, size_t height);
    std::vector<Request> press(const Key&);
    void answer(const Answer&);
    void notice(std::string_view line);

  private:
    enum class Typing { nothing, command, search };

    // Keys.
    void type(const Key&);
    void type_command(std::string text = {});
    void click(const Key&);
    void act(Action);
    void act_in_pager(Action);
    void act_here(Action);
    bool act_on_screen(Action);
    void act_at_function(Action);
    void bring(size_t pane);
    void bring_pane_of(Action, size_t pane);
    void step_back();
    void reset();
    void next_class();
    void turn_to(Action);
    void drill(Action);
    void time_suggested();
    bool propose_span(const Subject&);
    void show_source();
    void show_sites(const Subject&, const std::string& title, std::vector<PagerLine>);
    void search(const std::optional<std::string>& expression);
    void grant(const std::vector<Wish>&);
    void run(const std::string& line);
    void ask(Request::Kind kind) { requests_.push_back({kind, {}}); }
    void tell(std::string_view text);

    // Drawing.
    void draw_tabs(Canvas&, size_t y);
    void draw_body(Canvas&);
    void draw_bottom(Canvas&, size_t y);
    size_t room_for_note(size_t width) const;
    Surroundings surroundings();
    void look_for_suggestion();

    const Model& model_;
    ScreenOptions options_;
    PaneSet panes_;
    ScreenState state_;

    Typing typing_ = Typing::nothing;
    LineEditor command_line_, search_line_;
    bool searching_ = false; // in the pane in front
    std::optional<Pager> pager_;
    AnswerNote note_;
    std::string last_command_;              // whose answer stands in the note
    std::string drill_note_;                // what the command that runs is about
    std::optional<Subject> sites_of_;       // whose call sites were asked for
    std::optional<FunctionId> proposed_at_; // where a span was proposed last
    std::vector<Request> requests_;
    std::vector<FunctionId> suggested_; // to be timed, while nothing is
    uint64_t suggested_ns_ = 0;         // the model's time then

    // As drawn last, for the mouse.
    Rect body_, strip_area_, tab_area_;
    std::vector<std::pair<size_t, size_t>> tabs_; // columns of each, from and to
};

} // namespace auger
