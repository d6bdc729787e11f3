// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas.h"

#include "views/escape.h"

#include <algorithm>

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

struct Colour {
    const char* ansi8;
    int ansi256;
    uint32_t rgb;
};

// Restrained: plain text for what is read, colour for what tells classes apart.
Colour colour_of(Style style) {
    switch (style) {
    case Style::plain:
    case Style::name:
        return {"", -1, 0};
    case Style::dim:
        return {"2", 245, 0x8a8a8a};
    case Style::title:
    case Style::number:
        return {"1", -1, 0};
    case Style::kernel:
        return {"35", 139, 0xaf87af};
    case Style::slow:
        return {"31", 167, 0xd75f5f};
    case Style::fast:
        return {"32", 71, 0x5faf5f};
    case Style::open:
        return {"33", 179, 0xd7af5f};
    case Style::outside:
        return {"36", 73, 0x5fafaf};
    case Style::good:
        return {"32", 71, 0x5faf5f};
    case Style::warning:
        return {"1;31", 203, 0xff5f5f};
    }
    return {"", -1, 0};
}

std::string start_of(Style style, ColourMode mode) {
    Colour colour = colour_of(style);
    if (mode == ColourMode::ansi8 || colour.ansi256 < 0)
        return *colour.ansi8 ? "\x1b[" + std::string(colour.ansi8) + "m" : "";
    if (mode == ColourMode::ansi256)
        return "\x1b[38;5;" + std::to_string(colour.ansi256) + "m";
    return "\x1b[38;2;" + std::to_string(colour.rgb >> 16) + ";" +
           std::to_string(colour.rgb >> 8 & 0xff) + ";" + std::to_string(colour.rgb & 0xff) + "m";
}

} // namespace

std::string to_text(const Canvas& canvas, ColourMode mode) {
    std::string out;
    for (size_t y = 0; y < canvas.height(); y++) {
        const std::vector<Cell>& row = canvas.row(y);
        size_t end = row.size();
        while (end > 0 && row[end - 1].text == " ")
            end--;
        Style now = Style::plain;
        bool coloured = false;
        for (size_t x = 0; x < end; x++) {
            if (mode != ColourMode::none && row[x].style != now && row[x].text != " ") {
                if (coloured)
                    out += "\x1b[0m";
                std::string start = start_of(row[x].style, mode);
                out += start;
                coloured = !start.empty();
                now = row[x].style;
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
