// SPDX-License-Identifier: GPL-3.0-or-later
// From what ncurses reads to keys.
#pragma once

#include "views/screen/key.h"

#include <chrono>
#include <optional>

namespace auger {

class TerminalKeys {
  public:
    TerminalKeys(); // ncurses has been started
    // The next key; nothing when no other has come.
    std::optional<Key> next();

  private:
    std::optional<Key> mouse();

    bool pasting_ = false;
    std::chrono::steady_clock::time_point came_{}; // the last key
    // The last press, to know a double one.
    std::chrono::steady_clock::time_point pressed_{};
    size_t x_ = 0, y_ = 0;
};

} // namespace auger
