// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/answer_note.h"

#include "views/escape.h"

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

bool AnswerNote::fits_line(size_t room) const {
    return lines_.size() == 1 && text_width(escape_untrusted(lines_[0])) <= room;
}

void AnswerNote::draw(Canvas& canvas, size_t y) const {
    if (canvas.width() < 3)
        return;
    Canvas broken(canvas.width() - 2);
    size_t of_first = 0;
    for (const std::string& line : lines_) {
        broken.add_line(line);
        of_first = of_first ? of_first : broken.height();
    }
    const size_t count = std::min(broken.height(), y);
    for (size_t i = 0; i < count; i++) {
        const size_t row = y - count + i;
        canvas.fill(0, row, canvas.width(), Fill::none);
        canvas.put(0, row, std::string(canvas.width(), ' '));
        const Style style = failed_ && i < of_first ? Style::warning : Style::plain;
        size_t x = 1;
        for (const Cell& cell : broken.row(i)) {
            canvas.put(x, row, cell.text, style);
            x++;
        }
        canvas.fill(0, row, canvas.width(), Fill::bar);
    }
}

} // namespace auger
