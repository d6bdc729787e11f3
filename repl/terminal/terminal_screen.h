// SPDX-License-Identifier: GPL-3.0-or-later
// TerminalScreen: the terminal of standard input and output while auger has all of it, through
// ncurses. Canvases go out, of which only the cells that changed are written; keys come in. One at
// a time: ncurses' state is global.
#pragma once

#include "loader/base/result.h"
#include "repl/terminal/terminal_modes.h"
#include "views/canvas.h"
#include "views/screen/key.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

class TerminalScreen {
  public:
    // Fails where a cursor cannot be placed.
    static Result<std::unique_ptr<TerminalScreen>> open();
    ~TerminalScreen(); // gives the terminal back as it was

    size_t width() const;
    size_t height() const;
    const TerminalModes& modes() const;

    void show(const Canvas& canvas);
    // Whatever the terminal shows now, and whatever its size is: the next show() writes everything.
    void renew();
    // Somebody else may have written to the terminal: the next show() writes every cell, without
    // clearing the screen first.
    void rewrite();
    // The next key that was pressed; nothing when none was.
    std::optional<Key> next_key();

    // Bytes that write `text` over the last row and leave the cursor where it is. Between them and
    // the next show() comes forget_last_row().
    std::string last_row_bytes(std::string_view text) const;
    void forget_last_row();

  private:
    class Implementation;
    explicit TerminalScreen(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> implementation_;
};

// What a terminal is capable of, for whoever draws on it.
bool terminal_is_utf8();

} // namespace auger
