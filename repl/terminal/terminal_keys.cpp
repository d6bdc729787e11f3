// SPDX-License-Identifier: GPL-3.0-or-later
#define NCURSES_WIDECHAR 1
#include "repl/terminal/terminal_keys.h"

#include <curses.h>

namespace auger {
namespace {

constexpr wint_t escape_character = 27, delete_character = 127;
constexpr std::chrono::milliseconds double_press{400};

std::optional<Key> function_key(wint_t code) {
    using enum Key::Code;
    if (code >= KEY_F(1) && code <= KEY_F(24))
        return Key{function, static_cast<char32_t>(code - KEY_F(0)), false, 0, 0};
    switch (code) {
    case KEY_ENTER:
        return Key{enter};
    case KEY_BTAB:
        return Key{back_tab};
    case KEY_BACKSPACE:
        return Key{backspace};
    case KEY_DC:
        return Key{remove};
    case KEY_UP:
        return Key{up};
    case KEY_DOWN:
        return Key{down};
    case KEY_LEFT:
        return Key{left};
    case KEY_RIGHT:
        return Key{right};
    case KEY_HOME:
    case KEY_A1:
        return Key{home};
    case KEY_END:
    case KEY_C1:
        return Key{end};
    case KEY_PPAGE:
    case KEY_A3:
        return Key{page_up};
    case KEY_NPAGE:
    case KEY_C3:
        return Key{page_down};
    default:
        return std::nullopt; // of no meaning here
    }
}

Key character_key(wint_t typed) {
    using enum Key::Code;
    switch (typed) {
    case '\r':
    case '\n':
        return Key{enter};
    case '\t':
        return Key{tab};
    case '\b':
    case delete_character:
        return Key{backspace};
    case escape_character:
        return Key{Key::Code::escape};
    default:
        break;
    }
    Key key;
    key.control = typed < 32;
    key.character = typed;
    if (key.control) // Ctrl-A is 1
        key.character += typed <= 26 ? 'a' - 1 : '@';
    return key;
}

// Drops what follows an escape character when it came at once: Alt with a key, or a sequence of a
// key that the terminal's description lacks. Returns whether there was any.
bool skip_sequence() {
    wint_t next = 0;
    if (get_wch(&next) != OK)
        return false;
    if (next == '[' || next == 'O') {
        do {
            if (get_wch(&next) != OK)
                break;
        } while (next < 0x40 || next > 0x7e);
    }
    return true;
}

} // namespace

std::optional<Key> TerminalKeys::next() {
    wint_t code = 0;
    while (true) {
        const int kind = get_wch(&code);
        if (kind == ERR)
            return std::nullopt;
        std::optional<Key> key;
        if (kind == KEY_CODE_YES)
            key = code == KEY_MOUSE ? mouse() : function_key(code);
        else if (code != escape_character || !skip_sequence())
            key = character_key(code);
        if (key)
            return key;
    }
}

std::optional<Key> TerminalKeys::mouse() {
    MEVENT event;
    if (getmouse(&event) != OK || event.x < 0 || event.y < 0)
        return std::nullopt;
    Key key;
    key.x = static_cast<size_t>(event.x);
    key.y = static_cast<size_t>(event.y);
    if ((event.bstate & BUTTON4_PRESSED) != 0) {
        key.code = Key::Code::wheel_up;
    } else if ((event.bstate & BUTTON5_PRESSED) != 0) {
        key.code = Key::Code::wheel_down;
    } else if ((event.bstate & BUTTON1_PRESSED) != 0) {
        const auto now = std::chrono::steady_clock::now();
        const bool again = now - pressed_ < double_press && key.x == x_ && key.y == y_;
        key.code = again ? Key::Code::mouse_double : Key::Code::mouse_press;
        pressed_ = again ? std::chrono::steady_clock::time_point{} : now;
        x_ = key.x;
        y_ = key.y;
    } else {
        return std::nullopt;
    }
    return key;
}

} // namespace auger
