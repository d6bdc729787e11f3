// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas.h"

#include "views/escape.h"
#include "views/palette.h"

#include <algorithm>
#include <utility>

namespace auger {

size_t Canvas::put(size_t x, size_t y, std::string_view raw, Style style, Fill fill) {
    if (y >= rows_.size())
        rows_.resize(y + 1);
    std::vector<Cell>& row = rows_[y];
    std::string text = escape_untrusted(raw);
    size_t last = width_; // the cell that a combining mark joins
    for (size_t at = 0; at < text.size();) {
        size_t begin = at;
        uint32_t c = decode_utf8(text, at);
        auto columns = static_cast<size_t>(code_point_width(c));
        std::string_view grapheme(text.data() + begin, at - begin);
        if (columns == 0) {
            // A stack of marks can be any length; a few are all that a script needs.
            if (last < row.size() && row[last].text.size() < 16)
                row[last].text += grapheme;
            continue;
        }
        if (x + columns > width_)
            break;
        if (row.size() < x + columns)
            row.resize(x + columns);
        row[x] = {std::string(grapheme), style, fill};
        if (columns == 2)
            row[x + 1] = {"", style, fill};
        last = x;
        x += columns;
    }
    return x;
}

void Canvas::fill(size_t x, size_t y, size_t width, Fill fill) {
    if (y >= rows_.size())
        rows_.resize(y + 1);
    std::vector<Cell>& row = rows_[y];
    const size_t end = std::min(width_, x + width);
    if (row.size() < end)
        row.resize(end);
    for (; x < end; x++)
        row[x].fill = fill;
}

void Canvas::put_right(size_t right, size_t y, std::string_view text, Style style) {
    size_t columns = text_width(escape_untrusted(text));
    put(right > columns ? right - columns : 0, y, text, style);
}

void Canvas::add_line(std::string_view text, Style style, size_t indent) {
    size_t room = width_ > indent ? width_ - indent : 1;
    std::string rest = escape_untrusted(text);
    do {
        size_t end = 0, at = 0, columns = 0;
        while (at < rest.size()) { // `end`: behind the last word that fits
            size_t begin = at;
            uint32_t c = decode_utf8(rest, at);
            columns += static_cast<size_t>(code_point_width(c));
            if (columns > room) {
                at = begin;
                break;
            }
            if (at == rest.size() || rest[at] == ' ')
                end = at;
        }
        if (end == 0)
            end = at ? at : rest.size(); // one long word: cut it where it must be
        put(indent, height(), rest.substr(0, end), style);
        rest.erase(0, rest.find_first_not_of(' ', end));
    } while (!rest.empty());
}

namespace {

// The escape sequence that begins a look; empty for the terminal's own.
std::string start_of(const CellLook& look, ColourMode mode) {
    std::string codes;
    const auto add = [&](const std::string& code) { codes += (codes.empty() ? "" : ";") + code; };
    const auto colour = [&](int number, uint32_t rgb, bool background) {
        if (number < 0)
            return;
        if (mode == ColourMode::ansi8)
            add(std::to_string((background ? 40 : 30) + number));
        else if (mode == ColourMode::ansi256)
            add((background ? "48;5;" : "38;5;") + std::to_string(number));
        else
            add((background ? "48;2;" : "38;2;") + std::to_string(rgb >> 16) + ";" +
                std::to_string(rgb >> 8 & 0xff) + ";" + std::to_string(rgb & 0xff));
    };
    for (const auto& [set, code] : {std::pair{look.bold, "1"}, std::pair{look.dim, "2"},
                                    std::pair{look.underline, "4"}, std::pair{look.reverse, "7"}}) {
        if (set)
            add(code);
    }
    colour(look.foreground, look.foreground_rgb, false);
    colour(look.background, look.background_rgb, true);
    return codes.empty() ? "" : "\x1b[" + codes + "m";
}

} // namespace

std::string to_text(const Canvas& canvas, ColourMode mode) {
    std::string out;
    for (size_t y = 0; y < canvas.height(); y++) {
        const std::vector<Cell>& row = canvas.row(y);
        const bool colours = mode != ColourMode::none;
        size_t end = row.size();
        while (end > 0 && row[end - 1].text == " " && !(colours && row[end - 1].fill != Fill::none))
            end--;
        CellLook now;
        bool coloured = false;
        for (size_t x = 0; x < end; x++) {
            const CellLook look = colours ? look_of(row[x].style, row[x].fill, mode) : CellLook{};
            // A blank shows nothing but what is behind it.
            const bool same = row[x].text == " " && look.background == now.background &&
                              look.reverse == now.reverse;
            if (look != now && !same) {
                if (coloured)
                    out += "\x1b[0m";
                std::string start = start_of(look, mode);
                out += start;
                coloured = !start.empty();
                now = look;
            }
            out += row[x].text;
        }
        if (coloured)
            out += "\x1b[0m";
        out += '\n';
    }
    return out;
}

} // namespace auger
