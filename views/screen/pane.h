// SPDX-License-Identifier: GPL-3.0-or-later
// Pane: one way to look at what was collected, in a rectangle of the screen. It holds what it shows
// (so that a frozen screen stays as it is while data goes on being collected), draws it, and acts
// on what the user does in it. Pure: no terminal, no clock.
#pragma once

#include "loader/base/time_slice.h"
#include "views/canvas.h"
#include "views/model/fold.h"
#include "views/model/model.h"
#include "views/model/window.h"
#include "views/screen/action.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// The part of what was collected that all panes show, so that they agree.
struct Scope {
    Window window; // the session's, in force for its commands too
    ClassFilter filter;
    GroupBy by = GroupBy::process;
    std::string threads{}; // the session's filter, as `filter` says it; empty: none

    friend bool operator==(const Scope&, const Scope&) = default;
};

struct Rect {
    size_t x = 0, y = 0, width = 0, height = 0;
    bool contains(size_t column, size_t row) const {
        return column >= x && column - x < width && row >= y && row - y < height;
    }
};

// What a pane wants done beyond itself; everything but `scope` and `show` is a console command.
struct Wish {
    enum class Kind : uint8_t {
        run,   // the command `text`
        scope, // panes show `scope` from now on
        show,  // the pane called `text` comes to the front
        tell,  // `text` for the message line
        ask,   // `text` is put in the command line, for the user to complete
    };
    Kind kind = Kind::run;
    std::string text;
    Scope scope;
};

// What keys like "time it" are about: that which is under the cursor.
struct Subject {
    std::optional<FunctionId> function;
    std::vector<FunctionId> callers; // of it, the nearest first, where the pane knows one stack
    std::vector<std::string> lines;  // "main.cc:12": where these stand in theirs, where known
    std::optional<ProbeId> probe;    // where it is a probe, not just a function
};

class Pane {
  public:
    virtual ~Pane() = default;

    // A word: the tab's text and the argument of `view`.
    virtual std::string_view name() const = 0;
    // The console command that answers with what is shown: "flame slow by comm".
    virtual std::string command() const = 0;
    // Takes in what came since the last time, or all anew when `scope` is another. Works in steps
    // of about a millisecond until the slice is over, and goes on the next time; returns whether
    // something is left to do.
    virtual bool refresh(const Model&, const Scope&, const TimeSlice&) = 0;
    // Draws within `rect`. The cursor is marked only when the pane has the focus. What was drawn
    // last decides what a mouse position means.
    virtual void draw(Canvas&, const Rect& rect, bool focused) = 0;
    // Returns false when the pane has no use for the action.
    virtual bool act(Action, const Model&, const Scope&, std::vector<Wish>&) = 0;
    // A press within the rectangle drawn last; `twice` for a double one.
    virtual bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
                       std::vector<Wish>&) = 0;
    // Marks what fits the expression and moves to a match; nothing ends the search. Returns an
    // error's text for an expression that is none, else "3 of 17, 12.3 %".
    virtual std::string search(const std::optional<std::string>& expression, const Model&) = 0;
    virtual Subject subject() const { return {}; }
    // How deep the user has gone in, outermost first, raw: the breadcrumbs.
    virtual std::vector<std::string> crumbs(const Model&) const { return {}; }
    // The classes of all samples that it shows, for the status line.
    virtual std::optional<ClassSums> shown_sums() const { return std::nullopt; }
    // Shows this function as `action` (callers, callees, histogram, ...) asks, when another pane
    // was left for it, or `enter` when that pane wished this one to be shown; false when the pane
    // cannot.
    virtual bool turn_to(FunctionId, Action, const Model&) { return false; }
};

} // namespace auger
