// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/pager.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

Pager::Pager(std::string title, std::vector<PagerLine> lines)
    : title_(std::move(title)), lines_(std::move(lines)) {
    if (lines_.empty())
        lines_.emplace_back();
    const auto chosen = std::find_if(lines_.begin(), lines_.end(),
                                     [](const PagerLine& line) { return !line.probe.empty(); });
    choosing_ = chosen != lines_.end();
    if (choosing_)
        at_ = static_cast<size_t>(chosen - lines_.begin());
}

std::vector<PagerLine> Pager::lines_of(std::string_view text) {
    std::vector<PagerLine> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        lines.push_back({std::string(text.substr(0, end)), Style::plain, {}});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

void Pager::go_to(size_t line) {
    at_ = std::min(line, lines_.size() - 1);
    top_ = at_ > 5 ? at_ - 5 : 0;
}

void Pager::draw(Canvas& canvas, const Rect& rect) {
    if (rect.height == 0)
        return;
    first_row_ = rect.y + 1;
    page_ = std::max<size_t>(rect.height - 1, 1);
    const size_t last_top = lines_.size() > page_ ? lines_.size() - page_ : 0;
    if (at_ < top_)
        top_ = at_;
    if (at_ >= top_ + page_)
        top_ = at_ - page_ + 1;
    top_ = std::min(top_, last_top);
    canvas.put(rect.x, rect.y, title_, Style::title);
    canvas.fill(rect.x, rect.y, rect.width, Fill::bar);
    if (lines_.size() > page_)
        canvas.put_right(rect.x + rect.width, rect.y,
                         fmt::format(" {}-{} of {}", top_ + 1,
                                     std::min(top_ + page_, lines_.size()), lines_.size()),
                         Style::dim);
    for (size_t i = 0; i + 1 < rect.height && top_ + i < lines_.size(); i++) {
        const PagerLine& line = lines_[top_ + i];
        const size_t y = first_row_ + i;
        std::string text = escape_untrusted(line.text);
        size_t at = 0;
        for (size_t skipped = 0; skipped < left_ && at < text.size(); skipped++)
            decode_utf8(text, at);
        const bool match = pattern_ && pattern_->matches(line.text);
        canvas.put(rect.x + 2, y, std::string_view(text).substr(at), line.style,
                   match ? Fill::match : Fill::none);
        if (2 + text_width(std::string_view(text).substr(at)) > rect.width) // goes on: Right
            canvas.put(rect.x + rect.width - 1, y, ">", Style::title);
        if (top_ + i == at_) {
            canvas.put(rect.x, y, ">", Style::title);
            canvas.fill(rect.x, y, rect.width, Fill::cursor);
        } else if (match) {
            canvas.put(rect.x, y, "*", Style::title);
        }
    }
}

Pager::Outcome Pager::act(Action action) {
    switch (action) {
    case Action::up:
        step(false, 1);
        break;
    case Action::down:
        step(true, 1);
        break;
    case Action::page_up:
        step(false, page_);
        top_ -= std::min(top_, page_);
        break;
    case Action::page_down:
        step(true, page_);
        top_ += page_; // drawing knows the end
        break;
    case Action::first:
        at_ = 0;
        break;
    case Action::last:
        at_ = lines_.size() - 1;
        break;
    case Action::left:
        left_ -= std::min<size_t>(left_, 8);
        break;
    case Action::right:
        left_ = std::min<size_t>(left_ + 8, 4000);
        break;
    case Action::next_match:
        next_match(true);
        break;
    case Action::previous_match:
        next_match(false);
        break;
    case Action::enter:
        return current().probe.empty() ? (choosing_ ? Outcome::open : Outcome::closed)
                                       : Outcome::chosen;
    case Action::time_it:
    case Action::slow_it:
    case Action::split_on_it:
        return current().probe.empty() ? Outcome::open : Outcome::chosen;
    case Action::back:
        if (!pattern_)
            return Outcome::closed;
        pattern_.reset();
        break;
    case Action::leave:
        return Outcome::closed;
    default:
        break;
    }
    return Outcome::open;
}

Pager::Outcome Pager::click(size_t y, bool twice) {
    if (y < first_row_ || top_ + (y - first_row_) >= lines_.size())
        return Outcome::open;
    at_ = top_ + (y - first_row_);
    return twice && !current().probe.empty() ? Outcome::chosen : Outcome::open;
}

void Pager::step(bool forward, size_t lines) {
    at_ = forward ? std::min(at_ + lines, lines_.size() - 1) : at_ - std::min(lines, at_);
}

void Pager::next_match(bool forward) {
    if (!pattern_)
        return;
    for (size_t i = 1; i <= lines_.size(); i++) {
        const size_t line = (forward ? at_ + i : at_ + lines_.size() - i) % lines_.size();
        if (pattern_->matches(lines_[line].text)) {
            at_ = line;
            return;
        }
    }
}

std::string Pager::search(const std::optional<std::string>& expression) {
    pattern_.reset();
    if (!expression)
        return {};
    auto compiled = Pattern::compile(*expression);
    if (!compiled)
        return compiled.error().message();
    pattern_ = std::move(*compiled);
    if (!pattern_->matches(current().text))
        next_match(true);
    return count_matches();
}

std::string Pager::count_matches() const {
    size_t all = 0, number = 0;
    for (size_t i = 0; i < lines_.size(); i++) {
        if (pattern_->matches(lines_[i].text)) {
            all++;
            if (i <= at_)
                number = all;
        }
    }
    return all ? fmt::format("{} of {}", number, all) : "no line fits";
}

} // namespace auger
