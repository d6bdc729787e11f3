// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/terminal_view.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace auger {
namespace {

constexpr size_t width_elsewhere = 100;
constexpr size_t widest = 1000; // a terminal that claims more is misled

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

ColourMode colour_of_terminal() {
    const std::string_view term = environment("TERM"), colour = environment("COLORTERM");
    if (!environment("NO_COLOR").empty() || term.empty() || term == "dumb")
        return ColourMode::none;
    if (colour == "truecolor" || colour == "24bit")
        return ColourMode::truecolour;
    return term.find("256color") != std::string_view::npos ? ColourMode::ansi256
                                                           : ColourMode::ansi8;
}

} // namespace

ViewOptions view_of_stdout() {
    ViewOptions view;
    view.width = width_elsewhere;
    view.unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
    if (::isatty(STDOUT_FILENO)) {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            view.width = std::min<size_t>(size.ws_col, widest);
        view.colour = colour_of_terminal();
    }
    return view;
}

} // namespace auger
