// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/answer_note.h"

#include <algorithm>

namespace auger {

void AnswerNote::say(std::string_view text, bool failed) {
    lines_.clear();
    failed_ = failed;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        lines_.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    while (!lines_.empty() && lines_.back().empty())
        lines_.pop_back();
}

void AnswerNote::draw(Canvas& canvas, size_t y) const {
    const size_t count = std::min({lines_.size(), most_lines, y});
    if (lines_.size() < 2)
        return;
    for (size_t i = 0; i < count; i++) {
        const size_t row = y - count + i;
        canvas.fill(0, row, canvas.width(), Fill::none);
        canvas.put(0, row, std::string(canvas.width(), ' '));
        canvas.put(1, row, lines_[i], failed_ && i == 0 ? Style::warning : Style::plain);
        canvas.fill(0, row, canvas.width(), Fill::bar);
    }
}

} // namespace auger
