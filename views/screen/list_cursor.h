// SPDX-License-Identifier: GPL-3.0-or-later
// The cursor of a list whose rows come, go and change places while somebody looks at it: it stays
// on what it is on (a function, a call, a thread), not on a row.
#pragma once

#include "views/screen/action.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class ListCursor {
  public:
    // `follow_first`: until the cursor is moved, and again from `first` on, it is on the first row,
    // whatever that is.
    explicit ListCursor(bool follow_first = false) : follow_first_(follow_first) {}

    // The rows by key, in their order. A cursor whose key is gone stays where it was.
    void update(std::vector<uint64_t> keys);
    const std::vector<uint64_t>& keys() const { return keys_; }
    size_t rows() const { return keys_.size(); }
    size_t row() const { return row_; } // 0 when there are none
    std::optional<uint64_t> key() const;
    bool follows_first() const { return following_; }

    void move_to(size_t row);
    bool move_to_key(uint64_t key);
    // up, down, page_up, page_down, first, last; `page` rows are shown.
    bool act(Action, size_t page);

    // To the first row of what comes next, which is about something else.
    void begin_anew();

    // The first row to show so that `height` rows hold the cursor; moves as little as it must.
    size_t top(size_t height);

  private:
    std::vector<uint64_t> keys_;
    size_t row_ = 0;
    size_t top_ = 0;
    bool follow_first_;
    bool following_ = follow_first_;
    uint64_t key_ = 0; // of row_, when there is one
};

} // namespace auger
