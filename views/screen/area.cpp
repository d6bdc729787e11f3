// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/area.h"

#include "views/escape.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <algorithm>

namespace auger {

namespace {

// As many characters as fit `width` columns; of text that is escaped already.
std::string_view cut(std::string_view text, size_t width) {
    for (size_t at = 0, columns = 0; at < text.size();) {
        size_t begin = at;
        uint32_t c = decode_utf8(text, at);
        columns += c == UINT32_MAX ? 1 : static_cast<size_t>(code_point_width(c));
        if (columns > width)
            return text.substr(0, begin);
    }
    return text;
}

} // namespace

Area Area::part(size_t x, size_t y, size_t width, size_t height) const {
    x = std::min(x, rect_.width);
    y = std::min(y, rect_.height);
    return {canvas_,
            {rect_.x + x, rect_.y + y, std::min(width, rect_.width - x),
             std::min(height, rect_.height - y)},
            unicode_};
}

size_t Area::put(size_t x, size_t y, std::string_view raw, Style style, Fill fill) {
    if (x >= rect_.width || y >= rect_.height)
        return x;
    std::string text = escape_untrusted(raw);
    return canvas_.put(rect_.x + x, rect_.y + y, cut(text, rect_.width - x), style, fill) - rect_.x;
}

void Area::put_right(size_t right, size_t y, std::string_view text, Style style) {
    size_t columns = text_width(escape_untrusted(text));
    if (right >= columns && right <= rect_.width)
        put(right - columns, y, text, style);
}

size_t Area::put_name(size_t x, size_t y, std::string_view text, size_t width, Style style) {
    width = x < rect_.width ? std::min(width, rect_.width - x) : 0;
    return put(x, y, fit_name(escape_untrusted(text), width, ellipsis(unicode_)), style);
}

void Area::put_row(size_t x, size_t y, const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
        if (!cell.text.empty())
            put(x, y, cell.text, cell.style, cell.fill);
        x++;
    }
}

void Area::fill(size_t x, size_t y, size_t width, Fill fill) {
    if (x < rect_.width && y < rect_.height)
        canvas_.fill(rect_.x + x, rect_.y + y, std::min(width, rect_.width - x), fill);
}

size_t Area::put_lines(size_t y, std::string_view text, Style style, size_t indent) {
    if (indent >= rect_.width)
        return y;
    Canvas lines(rect_.width - indent);
    lines.add_line(text);
    for (size_t i = 0; i < lines.height(); i++, y++) {
        std::string line;
        for (const Cell& cell : lines.row(i))
            line += cell.text;
        put(indent, y, line, style);
    }
    return y;
}

} // namespace auger
