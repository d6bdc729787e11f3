// SPDX-License-Identifier: GPL-3.0-or-later
// A line being typed: cursor, the usual editing keys, and what was entered before.
#pragma once

#include "views/canvas.h"
#include "views/screen/key.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct LineCompletion {
    size_t start = 0;   // the bytes from here to the cursor are replaced
    std::string common; // by this, as far as it goes
    std::vector<std::string> candidates;
};
// Of a line up to the cursor.
using CompleteLine = std::function<LineCompletion(std::string_view line)>;

class LineEditor {
  public:
    enum class Outcome { typing, entered, cancelled };

    void start(std::string prompt, std::string text = {});
    void set_complete(CompleteLine complete) { complete_ = std::move(complete); }
    void set_history(std::vector<std::string> lines);
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
    void complete();

    std::string prompt_;
    std::string text_;                 // UTF-8 without control characters
    size_t at_ = 0;                    // byte
    std::vector<std::string> history_; // oldest first
    size_t recalled_ = 0;              // index in history_; its size: the line being typed
    std::string typed_;                // that line, while an older one is shown
    CompleteLine complete_;
    std::vector<std::string> choices_; // what it could go on with, after a Tab
};

} // namespace auger
