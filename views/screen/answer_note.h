// SPDX-License-Identifier: GPL-3.0-or-later
// What a command said, for a moment: a line at the bottom where it fits, else some above it, broken
// at spaces; an error with the place it is about.
#pragma once

#include "views/canvas.h"

#include <string>
#include <vector>

namespace auger {

class AnswerNote {
  public:
    static constexpr size_t most_lines = 6;

    void clear() { lines_.clear(); }
    void say(std::string_view text, bool failed);
    bool empty() const { return lines_.empty(); }
    // Whether it is one line of at most `room` columns: such a one is for the bottom itself.
    bool fits_line(size_t room) const;
    const std::string& line() const { return lines_.front(); }
    bool failed() const { return failed_; }
    // Draws the lines so that they end above row `y`.
    void draw(Canvas&, size_t y) const;

  private:
    std::vector<std::string> lines_;
    bool failed_ = false;
};

} // namespace auger
