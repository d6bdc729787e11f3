// SPDX-License-Identifier: GPL-3.0-or-later
// A text that fills the screen until it is closed: an answer, a source file, the keys.
#pragma once

#include "views/canvas.h"
#include "views/screen/action.h"
#include "views/screen/pane.h"
#include "views/screen/pattern.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace auger {

struct PagerLine {
    std::string text;
    Style style = Style::plain;
    std::string probe; // that the line stands for, to time or trace it; empty: none
};

class Pager {
  public:
    Pager(std::string title, std::vector<PagerLine> lines);
    static std::vector<PagerLine> lines_of(std::string_view text);

    // The line under the cursor, from 0; comes into view.
    void go_to(size_t line);
    void draw(Canvas&, const Rect&);
    enum class Outcome { open, closed, chosen };
    Outcome act(Action);
    Outcome click(size_t y, bool twice);
    // As Pane::search.
    std::string search(const std::optional<std::string>& expression);
    bool searching() const { return pattern_.has_value(); }

    // Some line can be chosen.
    bool choosing() const { return choosing_; }
    const PagerLine& current() const { return lines_[at_]; }
    const std::string& title() const { return title_; }

  private:
    void step(bool forward, size_t lines);
    void next_match(bool forward);
    std::string count_matches() const;

    std::string title_;
    std::vector<PagerLine> lines_; // never empty
    bool choosing_ = false;
    size_t at_ = 0;
    size_t top_ = 0;
    size_t left_ = 0;
    size_t page_ = 1; // lines drawn last
    size_t first_row_ = 0;
    std::optional<Pattern> pattern_;
};

} // namespace auger
