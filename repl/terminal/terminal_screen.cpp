// SPDX-License-Identifier: GPL-3.0-or-later
#define NCURSES_WIDECHAR 1
#include "repl/terminal/terminal_screen.h"

#include "repl/terminal/terminal_keys.h"
#include "repl/terminal/terminal_view.h"
#include "views/escape.h"
#include "views/palette.h"

#include <curses.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cwchar>
#include <map>

namespace auger {
namespace {

constexpr size_t largest = 1000; // columns or rows: a terminal that claims more is misled
constexpr int escape_wait_ms = 25;
// Bracketed paste: what is pasted comes marked, so that it is not taken for keys.
constexpr std::string_view paste_on = "\x1b[?2004h", paste_off = "\x1b[?2004l";

// A capability's bytes; empty where the terminal lacks it.
std::string capability(const char* name, int argument = 0) {
    const char* text = tigetstr(name);
    if (!text || text == reinterpret_cast<const char*>(-1))
        return {};
    // tputs() would send padding, which no terminal of today needs.
    std::string bytes = tiparm(text, argument);
    for (size_t at = 0; (at = bytes.find("$<", at)) != std::string::npos;)
        bytes.erase(at, bytes.find('>', at) - at + 1);
    return bytes;
}

// What a grapheme is for ncurses; a question mark where the terminal's locale cannot have it, or
// counts its columns differently than the canvas did.
std::wstring wide(std::string_view text, int cells, bool utf8) {
    std::wstring out;
    for (size_t at = 0; at < text.size() && out.size() < CCHARW_MAX;) {
        const uint32_t c = decode_utf8(text, at);
        const auto character = static_cast<wchar_t>(c);
        const bool fits =
            c < 0x80 ? c >= 0x20 && c != 0x7f
                     : utf8 && c != UINT32_MAX && ::wcwidth(character) == (out.empty() ? cells : 0);
        if (fits)
            out += character;
        else if (out.empty())
            return L"?";
    }
    return out.empty() ? L" " : out;
}

} // namespace

bool terminal_is_utf8() {
    return view_of_stdout().unicode;
}

class TerminalScreen::Implementation {
  public:
    Implementation(SCREEN* screen, const termios& outside) : screen_(screen) {
        ::set_escdelay(escape_wait_ms);
        cbreak(); // Ctrl-C and Ctrl-Z stay signals: they work while a command runs, too
        noecho();
        nonl();
        nodelay(stdscr, TRUE);
        keypad(stdscr, TRUE);
        curs_set(0);
        mouseinterval(0); // clicks of ncurses' own making would come late
        const bool has_mouse =
            mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr) != 0;
        set_up_colours();
        set_up_line();
        describe_modes(outside, has_mouse);
        send(paste_on);
        fit();
    }
    ~Implementation() {
        send(paste_off);
        endwin();
        delscreen(screen_);
    }

    void show(const Canvas& canvas) {
        if (std::exchange(renew_, false)) {
            fit();
            // The shell may have set the line otherwise while auger was stopped.
            ::tcsetattr(modes_.fd, TCSANOW, &modes_.inside);
            clearok(curscr, TRUE);
        }
        for (size_t y = 0; y < static_cast<size_t>(LINES); ++y)
            draw_row(y, canvas);
        doupdate_all();
    }

    void rewrite() { redrawwin(stdscr); }

    void draw_row(size_t y, const Canvas& canvas) {
        static const std::vector<Cell> nothing;
        const std::vector<Cell>& row = y < canvas.height() ? canvas.row(y) : nothing;
        const int room = COLS;
        int x = 0;
        for (size_t i = 0; i < row.size() && x < room; ++i) {
            const bool doubled = i + 1 < row.size() && row[i + 1].text.empty();
            const int width = doubled ? 2 : 1;
            if (x + width > room)
                break;
            put(static_cast<int>(y), x, row[i], width);
            x += width;
            i += doubled;
        }
        if (x < room) {
            attr_set(A_NORMAL, 0, nullptr);
            wmove(stdscr, static_cast<int>(y), x);
            clrtoeol();
        }
    }

    void put(int y, int x, const Cell& cell, int width) {
        const Look look = look_for(cell);
        const std::wstring text = wide(cell.text, width, utf8_);
        cchar_t character;
        int pair = look.pair;
        setcchar(&character, text.c_str(), look.attributes, 0, &pair);
        mvadd_wch(y, x, &character);
        if (width == 2 && text == L"?")
            mvadd_wch(y, x + 1, &character);
    }

    void doupdate_all() {
        wnoutrefresh(stdscr);
        doupdate();
    }

    void fit() {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
            return;
        const auto bounded = [](size_t cells) {
            return static_cast<int>(std::min(cells, largest));
        };
        if (bounded(size.ws_row) != LINES || bounded(size.ws_col) != COLS)
            resizeterm(bounded(size.ws_row), bounded(size.ws_col));
    }

    std::string last_row_bytes(std::string_view text) const {
        const std::string shown = elide_middle(escape_untrusted(text), width() ? width() - 1 : 0);
        std::string bytes = capability("sc");
        bytes += tiparm(tigetstr("cup"), LINES - 1, 0);
        for (const char* name : {"sgr0", "el"})
            bytes += capability(name);
        return bytes + shown + capability("rc");
    }

    size_t width() const { return static_cast<size_t>(COLS); }
    size_t height() const { return static_cast<size_t>(LINES); }

    TerminalModes modes_;
    TerminalKeys keys_;
    bool renew_ = false;

  private:
    // What ncurses does not know of. It has no bytes of its own waiting then.
    static void send(std::string_view bytes) {
        (void)!::write(STDOUT_FILENO, bytes.data(), bytes.size());
    }

    struct Look {
        attr_t attributes = A_NORMAL;
        int pair = 0;
    };

    void set_up_colours() {
        mode_ = view_of_stdout().colour;
        if (mode_ == ColourMode::none || !has_colors()) {
            mode_ = ColourMode::none;
            return;
        }
        start_color();
        use_default_colors();
        if (tigetflag("RGB") > 0 && COLORS > 256)
            mode_ = ColourMode::truecolour;
        else
            mode_ = COLORS >= 256 ? ColourMode::ansi256 : ColourMode::ansi8;
    }

    // Ctrl-S does not stop the screen, and no key is taken by the line discipline but Ctrl-C,
    // Ctrl-Z and Ctrl-\.
    void set_up_line() {
        termios line{};
        ::tcgetattr(STDIN_FILENO, &line);
        line.c_iflag &= ~static_cast<tcflag_t>(IXON | IXOFF);
        line.c_lflag &= ~static_cast<tcflag_t>(IEXTEN);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &line);
        def_prog_mode();
    }

    void describe_modes(const termios& outside, bool has_mouse) {
        modes_.fd = STDOUT_FILENO;
        modes_.outside = outside;
        ::tcgetattr(STDIN_FILENO, &modes_.inside);
        std::string mouse_on = capability("XM", 1), mouse_off = capability("XM", 0);
        if (mouse_on.empty()) {
            mouse_on = "\x1b[?1000h";
            mouse_off = "\x1b[?1000l";
        }
        modes_.enter.add(capability("smcup"));
        modes_.enter.add(capability("smkx"));
        modes_.enter.add(capability("civis"));
        modes_.enter.add(paste_on);
        modes_.leave.add(paste_off);
        if (has_mouse) {
            modes_.enter.add(mouse_on);
            modes_.leave.add(mouse_off);
        }
        for (const char* name : {"sgr0", "op", "rmkx", "cnorm", "rmcup"})
            modes_.leave.add(capability(name));
    }

    Look look_for(const Cell& cell) {
        const auto [found, fresh] = looks_.try_emplace({cell.style, cell.fill});
        if (!fresh)
            return found->second;
        const CellLook look = look_of(cell.style, cell.fill, mode_);
        Look& made = found->second;
        made.attributes = (look.bold ? A_BOLD : 0) | (look.dim ? A_DIM : 0) |
                          (look.underline ? A_UNDERLINE : 0) | (look.reverse ? A_REVERSE : 0);
        if (mode_ != ColourMode::none && (look.foreground >= 0 || look.background >= 0)) {
            const bool direct = mode_ == ColourMode::truecolour;
            const auto number = [direct](int colour, uint32_t rgb) {
                return direct && colour >= 0 ? static_cast<int>(rgb) : colour;
            };
            const int pair = alloc_pair(number(look.foreground, look.foreground_rgb),
                                        number(look.background, look.background_rgb));
            made.pair = std::max(pair, 0); // no more pairs: as if without colour
        }
        return made;
    }

    SCREEN* screen_;
    ColourMode mode_ = ColourMode::none;
    bool utf8_ = terminal_is_utf8();
    std::map<std::pair<Style, Fill>, Look> looks_;
};

Result<std::unique_ptr<TerminalScreen>> TerminalScreen::open() {
    const char* name = std::getenv("TERM");
    const auto refuse = [name](const char* cause) {
        return Error{"open the view on terminal", name ? name : "of no name", cause,
                     "set TERM to what this terminal is; the prompt's commands show the same",
                     Error::Kind::failed};
    };
    termios outside{};
    if (::tcgetattr(STDIN_FILENO, &outside) != 0 || !::isatty(STDOUT_FILENO))
        return Error{"open the view", "", "standard input and output are no terminal",
                     "the prompt's commands show the same", Error::Kind::failed};
    use_env(FALSE); // the size is asked for, not believed from LINES and COLUMNS
    use_tioctl(TRUE);
    // ncurses leaves signals alone that have a handler.
    struct sigaction suspend {};
    ::sigaction(SIGTSTP, nullptr, &suspend);
    SCREEN* screen = newterm(nullptr, stdout, stdin);
    ::sigaction(SIGTSTP, &suspend, nullptr);
    if (!screen)
        return refuse("its capabilities are not known");
    const char* place = tigetstr("cup");
    if (!place || place == reinterpret_cast<const char*>(-1)) {
        endwin();
        delscreen(screen);
        return refuse("it cannot place the cursor");
    }
    return std::unique_ptr<TerminalScreen>(
        new TerminalScreen(std::make_unique<Implementation>(screen, outside)));
}

TerminalScreen::TerminalScreen(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
TerminalScreen::~TerminalScreen() = default;

size_t TerminalScreen::width() const {
    return implementation_->width();
}
size_t TerminalScreen::height() const {
    return implementation_->height();
}
const TerminalModes& TerminalScreen::modes() const {
    return implementation_->modes_;
}
void TerminalScreen::show(const Canvas& canvas) {
    implementation_->show(canvas);
}
void TerminalScreen::renew() {
    implementation_->renew_ = true;
    implementation_->fit();
}
void TerminalScreen::rewrite() {
    implementation_->rewrite();
}
std::optional<Key> TerminalScreen::next_key() {
    return implementation_->keys_.next();
}
std::string TerminalScreen::last_row_bytes(std::string_view text) const {
    return implementation_->last_row_bytes(text);
}
void TerminalScreen::forget_last_row() {
    wredrawln(curscr, LINES - 1, 1);
}

} // namespace auger
