// SPDX-License-Identifier: GPL-3.0-or-later
#define NCURSES_WIDECHAR 1
#include "repl/terminal/terminal_keys.h"

#include <curses.h>

namespace auger {
namespace {

constexpr wint_t escape_character = 27, delete_character = 127;
constexpr std::chrono::milliseconds double_press{400};
constexpr std::chrono::milliseconds longest_pause{500}; // within pasted text
// Numbers of our own, beyond those of ncurses.
constexpr int paste_begin = KEY_MAX + 1, paste_end = KEY_MAX + 2;

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

// Drops the rest of a sequence that the terminal's description lacks; returns whether there was
// any. Anything else behind an escape character is a key of its own, pressed quickly after Escape:
// auger was busy, or the network brought both at once.
bool skip_sequence() {
    wint_t first = 0, next = 0;
    const int kind = get_wch(&first);
    if (kind == KEY_CODE_YES)
        ungetch(static_cast<int>(first));
    else if (kind == OK && first != '[' && first != 'O')
        unget_wch(static_cast<wchar_t>(first));
    if (kind != OK || (first != '[' && first != 'O'))
        return false;
    if (get_wch(&next) != OK) {
        unget_wch(static_cast<wchar_t>(first));
        return false;
    }
    while (next < 0x40 || next > 0x7e) {
        if (get_wch(&next) != OK)
            break;
    }
    return true;
}

} // namespace

TerminalKeys::TerminalKeys() {
    define_key("\x1b[200~", paste_begin);
    define_key("\x1b[201~", paste_end);
}

std::optional<Key> TerminalKeys::next() {
    const auto now = std::chrono::steady_clock::now();
    wint_t code = 0;
    while (true) {
        const int kind = get_wch(&code);
        if (kind == ERR) {
            // A paste whose end was lost must not swallow all keys for ever.
            if (now - came_ > longest_pause)
                pasting_ = false;
            return std::nullopt;
        }
        came_ = now;
        std::optional<Key> key;
        if (kind == KEY_CODE_YES && (code == paste_begin || code == paste_end))
            pasting_ = code == paste_begin;
        else if (kind == KEY_CODE_YES)
            key = code == KEY_MOUSE ? mouse() : function_key(code);
        else if (code != escape_character || !skip_sequence())
            key = character_key(code);
        if (key) {
            key->pasted = pasting_;
            return key;
        }
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
