// SPDX-License-Identifier: GPL-3.0-or-later
// UndoStack: the settings before each of the last edits.
#pragma once

#include "repl/session/settings.h"

#include <deque>
#include <string>

namespace auger {

class UndoStack {
  public:
    static constexpr size_t limit = 100; // edits; the oldest go

    struct Entry {
        std::string command; // as typed
        Settings before;
    };

    bool empty() const { return entries_.empty(); }
    const Entry& last() const { return entries_.back(); }
    void push(Entry entry) {
        entries_.push_back(std::move(entry));
        if (entries_.size() > limit)
            entries_.pop_front();
    }
    void pop() { entries_.pop_back(); }
    // Makes the same change in all of them.
    template <typename Change>
    void change(const Change& change) {
        for (Entry& entry : entries_)
            change(entry.before);
    }

  private:
    std::deque<Entry> entries_;
};

} // namespace auger
