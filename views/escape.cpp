// SPDX-License-Identifier: GPL-3.0-or-later
// What a code point is, and how wide, is utf8proc's to know.
#include "views/escape.h"

#include <algorithm>
#include <fmt/format.h>
#include <utf8proc.h>
#include <vector>

namespace auger {

namespace {

// Nothing to see, or it changes how its neighbours are shown: directions, joiners, separators,
// blanks that look like others, surrogates, private use, what is not assigned.
bool is_spelled_out(uint32_t c) {
    const utf8proc_property_t* known = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    switch (known->category) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
        return true;
    default:
        return known->ignorable;
    }
}

} // namespace

uint32_t decode_utf8(std::string_view text, size_t& at) {
    utf8proc_int32_t c = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const auto length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (length <= 0) {
        at++;
        return UINT32_MAX;
    }
    at += static_cast<size_t>(length);
    return static_cast<uint32_t>(c);
}

void append_utf8(std::string& out, uint32_t c) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

std::string escape_untrusted(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (size_t at = 0; at < raw.size();) {
        size_t before = at;
        uint32_t c = decode_utf8(raw, at);
        if (c == UINT32_MAX || c < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(raw[before]));
        else if (c >= 0x80 && is_spelled_out(c))
            out += fmt::format("\\u{{{:x}}}", c);
        else
            out.append(raw, before, at - before);
    }
    return out;
}

int code_point_width(uint32_t c) {
    return c < 0x300 ? 1 : utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
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
