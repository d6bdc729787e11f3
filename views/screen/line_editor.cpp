// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/line_editor.h"

#include "views/escape.h"

#include <algorithm>

namespace auger {

namespace {

constexpr size_t longest_line = 4000;
constexpr size_t longest_history = 200;

} // namespace

void LineEditor::start(std::string prompt, std::string text) {
    prompt_ = std::move(prompt);
    text_ = std::move(text);
    at_ = text_.size();
    recalled_ = history_.size();
    typed_.clear();
    choices_.clear();
}

void LineEditor::set_history(std::vector<std::string> lines) {
    history_ = std::move(lines);
    if (history_.size() > longest_history)
        history_.erase(history_.begin(), history_.end() - static_cast<ptrdiff_t>(longest_history));
    recalled_ = history_.size();
}

LineEditor::Outcome LineEditor::press(const Key& key) {
    using Code = Key::Code;
    choices_.clear();
    if (key.pasted) { // whatever is in it, it is text, and one line
        if (key.code == Code::character && !key.control)
            insert(key.character);
        else if (key.code == Code::enter || key.code == Code::tab)
            insert(' ');
        return Outcome::typing;
    }
    if (key.code == Code::character && key.control) {
        switch (key.character) {
        case 'c':
        case 'g':
            return Outcome::cancelled;
        case 'a':
            at_ = 0;
            break;
        case 'e':
            at_ = text_.size();
            break;
        case 'b':
            at_ = before(at_);
            break;
        case 'f':
            at_ = behind(at_);
            break;
        case 'u':
            erase(0, at_);
            break;
        case 'k':
            erase(at_, text_.size());
            break;
        case 'w':
            erase(word_before(at_), at_);
            break;
        case 'd':
            erase(at_, behind(at_));
            break;
        case 'p':
            recall(true);
            break;
        case 'n':
            recall(false);
            break;
        default:
            break;
        }
        return Outcome::typing;
    }
    switch (key.code) {
    case Code::character:
        insert(key.character);
        break;
    case Code::enter:
        if (!text_.empty() && (history_.empty() || history_.back() != text_)) {
            history_.push_back(text_);
            if (history_.size() > longest_history)
                history_.erase(history_.begin());
        }
        return Outcome::entered;
    case Code::escape:
        return Outcome::cancelled;
    case Code::backspace:
        if (text_.empty())
            return Outcome::cancelled;
        erase(before(at_), at_);
        break;
    case Code::remove:
        erase(at_, behind(at_));
        break;
    case Code::left:
        at_ = before(at_);
        break;
    case Code::right:
        at_ = behind(at_);
        break;
    case Code::home:
        at_ = 0;
        break;
    case Code::end:
        at_ = text_.size();
        break;
    case Code::up:
        recall(true);
        break;
    case Code::down:
        recall(false);
        break;
    case Code::tab:
        complete();
        break;
    default:
        break;
    }
    return Outcome::typing;
}

void LineEditor::insert(char32_t c) {
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return;
    std::string bytes;
    append_utf8(bytes, c);
    if (text_.size() + bytes.size() > longest_line)
        return;
    text_.insert(at_, bytes);
    at_ += bytes.size();
}

void LineEditor::erase(size_t from, size_t to) {
    text_.erase(from, to - from);
    at_ = from;
}

size_t LineEditor::before(size_t at) const {
    while (at > 0 && (static_cast<unsigned char>(text_[--at]) & 0xc0) == 0x80) {
    }
    return at;
}

size_t LineEditor::behind(size_t at) const {
    if (at < text_.size())
        at++;
    while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0) == 0x80)
        at++;
    return at;
}

size_t LineEditor::word_before(size_t at) const {
    while (at > 0 && text_[at - 1] == ' ')
        at--;
    while (at > 0 && text_[at - 1] != ' ')
        at--;
    return at;
}

void LineEditor::recall(bool older) {
    if (older ? recalled_ == 0 : recalled_ == history_.size())
        return;
    if (recalled_ == history_.size())
        typed_ = text_;
    recalled_ += older ? -1 : 1;
    text_ = recalled_ == history_.size() ? typed_ : history_[recalled_];
    at_ = text_.size();
}

// One candidate is taken, of several what they have in common; then they are shown.
void LineEditor::complete() {
    if (!complete_)
        return;
    LineCompletion found = complete_(std::string_view(text_).substr(0, at_));
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (found.candidates.empty() || found.start > at_ ||
        std::ranges::any_of(found.common, is_control))
        return;
    if (found.candidates.size() == 1 && !found.common.ends_with('/'))
        found.common += ' ';
    if (text_.size() - (at_ - found.start) + found.common.size() > longest_line)
        return;
    text_.replace(found.start, at_ - found.start, found.common);
    at_ = found.start + found.common.size();
    if (found.candidates.size() > 1)
        choices_ = std::move(found.candidates);
}

void LineEditor::draw(Canvas& canvas, size_t y) const {
    const size_t x = canvas.put(0, y, prompt_, Style::title);
    const size_t room = canvas.width() > x + 1 ? canvas.width() - x - 1 : 1;
    // What is left of the cursor shows as far as it fits, and then what is right of it.
    size_t from = 0;
    while (text_width(escape_untrusted(std::string_view(text_).substr(from, at_ - from))) > room)
        from = behind(from);
    const size_t cursor = canvas.put(x, y, std::string_view(text_).substr(from, at_ - from));
    const size_t next = behind(at_);
    std::string_view under = std::string_view(text_).substr(at_, next - at_);
    const size_t rest =
        canvas.put(cursor, y, under.empty() ? " " : under, Style::plain, Fill::cursor);
    size_t end = canvas.put(rest, y, std::string_view(text_).substr(next));
    for (const std::string& choice : choices_)
        end = canvas.put(end + 2, y, choice, Style::dim);
}

} // namespace auger
