// SPDX-License-Identifier: GPL-3.0-or-later
// The tables are coarse on purpose: ranges of whole blocks. A mistake in a width moves a column; a
// mistake in what is let through could move the cursor, so whatever has no glyph is spelled out.
#include "views/escape.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace auger {

namespace {

struct Range {
    uint32_t first, last;
};

template <size_t N>
bool in_ranges(const Range (&ranges)[N], uint32_t c) {
    auto it = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                               [](uint32_t value, const Range& r) { return value < r.first; });
    return it != std::begin(ranges) && c <= std::prev(it)->last;
}

// Marks that sit on the character before them.
constexpr Range combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x5bf, 0x5bf},   {0x5c1, 0x5c2},
    {0x5c4, 0x5c5},   {0x610, 0x61a},   {0x64b, 0x65f},   {0x670, 0x670},   {0x6d6, 0x6dc},
    {0x6df, 0x6e4},   {0x6e7, 0x6e8},   {0x6ea, 0x6ed},   {0x900, 0x902},   {0x93a, 0x93a},
    {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},
    {0xe47, 0xe4e},   {0x135d, 0x135f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
    {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff},
};

constexpr Range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff},
    {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
    {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f3fa}, {0x1f400, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

// Nothing to see, or it changes how its neighbours are shown: directions, joiners, separators,
// surrogates, private use, tags, non-characters.
constexpr Range spelled_out[] = {
    {0xad, 0xad},       {0x34f, 0x34f},      {0x600, 0x605},   {0x61c, 0x61c},   {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x115f, 0x1160},    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},    {0x3000, 0x3000}, {0x3164, 0x3164}, {0xd800, 0xf8ff},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},    {0xffa0, 0xffa0}, {0xfff0, 0xffff}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
};

} // namespace

uint32_t decode_utf8(std::string_view text, size_t& at) {
    auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char lead = byte(at);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : (lead & 0xf0) == 0xe0       ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || at + length > text.size()) {
        at++;
        return UINT32_MAX;
    }
    uint32_t c = length == 1 ? lead : lead & (0xff >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((byte(at + i) & 0xc0) != 0x80) {
            at++;
            return UINT32_MAX;
        }
        c = c << 6 | (byte(at + i) & 0x3f);
    }
    bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
    if (overlong || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        at++;
        return UINT32_MAX;
    }
    at += length;
    return c;
}

void append_utf8(std::string& out, uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

std::string escape_untrusted(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (size_t at = 0; at < raw.size();) {
        size_t before = at;
        uint32_t c = decode_utf8(raw, at);
        if (c == UINT32_MAX || c < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(raw[before]));
        else if ((c >= 0x80 && c < 0xa0) || in_ranges(spelled_out, c))
            out += fmt::format("\\u{{{:x}}}", c);
        else
            out.append(raw, before, at - before);
    }
    return out;
}

int code_point_width(uint32_t c) {
    if (c < 0x300)
        return 1;
    if (in_ranges(combining, c))
        return 0;
    return in_ranges(wide, c) ? 2 : 1;
}

size_t text_width(std::string_view text) {
    size_t width = 0;
    for (size_t at = 0; at < text.size();) {
        uint32_t c = decode_utf8(text, at);
        width += c == UINT32_MAX ? 1 : static_cast<size_t>(code_point_width(c));
    }
    return width;
}

std::string elide_middle(std::string_view text, size_t width, std::string_view ellipsis) {
    // Most names are short ASCII; only the others are taken apart.
    if (text_width(text) <= width)
        return std::string(text);
    size_t dots = text_width(ellipsis);
    if (width <= dots)
        return std::string(ellipsis.substr(0, dots == ellipsis.size() ? width : 0));

    struct Piece {
        size_t begin, end, width; // a character with the marks on it
    };
    std::vector<Piece> pieces;
    for (size_t at = 0; at < text.size();) {
        size_t begin = at;
        uint32_t c = decode_utf8(text, at);
        auto columns = c == UINT32_MAX ? size_t{1} : static_cast<size_t>(code_point_width(c));
        if (columns == 0 && !pieces.empty())
            pieces.back().end = at;
        else
            pieces.push_back({begin, at, columns});
    }
    size_t for_head = (width - dots + 1) / 2, for_tail = (width - dots) / 2;
    size_t head = 0, tail = pieces.size();
    for (size_t used = 0; head < tail && used + pieces[head].width <= for_head; head++)
        used += pieces[head].width;
    for (size_t used = 0; tail > head && used + pieces[tail - 1].width <= for_tail; tail--)
        used += pieces[tail - 1].width;
    std::string out(text.substr(0, head ? pieces[head - 1].end : 0));
    out += ellipsis;
    if (tail < pieces.size())
        out += text.substr(pieces[tail].begin);
    return out;
}

} // namespace auger
