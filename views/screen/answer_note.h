// SPDX-License-Identifier: GPL-3.0-or-later
// What a command said, for a moment: a line at the bottom, or a few above it; an error with the
// place it is about.
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
    // The last of several lines stand above row `y`; a single one is for the command line itself.
    bool one_line() const { return lines_.size() == 1; }
    const std::string& line() const { return lines_.front(); }
    bool failed() const { return failed_; }
    // Draws several lines so that they end above row `y`.
    void draw(Canvas&, size_t y) const;

  private:
    std::vector<std::string> lines_;
    bool failed_ = false;
};

} // namespace auger
