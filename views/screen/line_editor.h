// SPDX-License-Identifier: GPL-3.0-or-later
// A line being typed: cursor, the usual editing keys, and what was entered before.
#pragma once

#include "views/canvas.h"
#include "views/screen/key.h"

#include <string>
#include <vector>

namespace auger {

class LineEditor {
  public:
    enum class Outcome { typing, entered, cancelled };

    void start(std::string prompt, std::string text = {});
    Outcome press(const Key&);
    void draw(Canvas&, size_t y) const;

    const std::string& text() const { return text_; }
    const std::vector<std::string>& history() const { return history_; }

  private:
    void insert(char32_t);
    void erase(size_t from, size_t to);
    size_t before(size_t at) const; // the character's beginning that ends at `at`
    size_t behind(size_t at) const;
    size_t word_before(size_t at) const;
    void recall(bool older);

    std::string prompt_;
    std::string text_;                 // UTF-8 without control characters
    size_t at_ = 0;                    // byte
    std::vector<std::string> history_; // oldest first
    size_t recalled_ = 0;              // index in history_; its size: the line being typed
    std::string typed_;                // that line, while an older one is shown
};

} // namespace auger
