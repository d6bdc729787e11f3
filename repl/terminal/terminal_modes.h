// SPDX-License-Identifier: GPL-3.0-or-later
// TerminalModes: how a terminal is set while auger has it for itself, and how it was before. Plain
// data and functions that a signal handler may call, because it must be put back however auger
// ends: by this process when it gets to know of it, else by the guardian.
#pragma once

#include <termios.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace auger {

// Escape sequences; what does not fit is not sent at all.
class ModeBytes {
  public:
    void add(std::string_view text);
    std::string_view text() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, 512> bytes_{};
    size_t size_ = 0;
};

struct TerminalModes {
    int fd = -1;
    termios outside{}; // as the user's shell left it
    termios inside{};
    ModeBytes enter;
    ModeBytes leave;
};

// Both may be called by a signal handler.
void enter_terminal(const TerminalModes&) noexcept;
void leave_terminal(const TerminalModes&) noexcept;

// While it lives, the terminal is put back before auger dies of a fault, and before Ctrl-Z stops
// it; then it is taken again when auger goes on (and SIGCONT tells that all has to be drawn anew).
// One at a time; not for other threads than the one that made it.
class ModesKeeper {
  public:
    explicit ModesKeeper(const TerminalModes&);
    ~ModesKeeper();
    ModesKeeper(const ModesKeeper&) = delete;
    ModesKeeper& operator=(const ModesKeeper&) = delete;
};

} // namespace auger
