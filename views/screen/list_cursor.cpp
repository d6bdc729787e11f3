// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/list_cursor.h"

#include <algorithm>

namespace auger {

void ListCursor::update(std::vector<uint64_t> keys) {
    const bool had_row = !keys_.empty();
    keys_ = std::move(keys);
    if (keys_.empty()) {
        row_ = 0;
        return;
    }
    if (following_ || !had_row) {
        row_ = 0;
    } else if (auto found = std::find(keys_.begin(), keys_.end(), key_); found != keys_.end()) {
        const auto row = static_cast<size_t>(found - keys_.begin());
        // The cursor keeps its place on the screen where it can.
        top_ = row > row_ - std::min(row_, top_) ? row - (row_ - std::min(row_, top_)) : 0;
        row_ = row;
    } else {
        row_ = std::min(row_, keys_.size() - 1);
    }
    key_ = keys_[row_];
}

void ListCursor::begin_anew() {
    keys_.clear();
    row_ = top_ = 0;
    following_ = follow_first_;
}

std::optional<uint64_t> ListCursor::key() const {
    return keys_.empty() ? std::nullopt : std::optional(keys_[row_]);
}

void ListCursor::move_to(size_t row) {
    if (keys_.empty())
        return;
    row_ = std::min(row, keys_.size() - 1);
    key_ = keys_[row_];
    following_ = false;
}

bool ListCursor::move_to_key(uint64_t key) {
    auto found = std::find(keys_.begin(), keys_.end(), key);
    if (found == keys_.end())
        return false;
    move_to(static_cast<size_t>(found - keys_.begin()));
    return true;
}

bool ListCursor::act(Action action, size_t page) {
    page = std::max<size_t>(page, 2) - 1; // one row stays in sight
    switch (action) {
    case Action::up:
        move_to(row_ ? row_ - 1 : 0);
        return true;
    case Action::down:
        move_to(row_ + 1);
        return true;
    case Action::page_up:
        move_to(row_ > page ? row_ - page : 0);
        return true;
    case Action::page_down:
        move_to(row_ + page);
        return true;
    case Action::first:
        move_to(0);
        following_ = follow_first_;
        return true;
    case Action::last:
        move_to(SIZE_MAX);
        return true;
    default:
        return false;
    }
}

size_t ListCursor::top(size_t height) {
    height = std::max<size_t>(height, 1);
    if (top_ > row_)
        top_ = row_;
    if (row_ - top_ >= height)
        top_ = row_ - height + 1;
    // No empty rows at the end while there are rows above.
    top_ = std::min(top_, keys_.size() > height ? keys_.size() - height : 0);
    return top_;
}

} // namespace auger
