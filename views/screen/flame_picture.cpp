// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_picture.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

std::string text_of(const Model& model, const FlameTree& tree, const FlameCells& box,
                    Weight weight) {
    if (box.node != no_node)
        return display_name(node_name(model, tree, tree.nodes[box.node]));
    return fmt::format("+ {} frame{}, {}", box.merged, box.merged == 1 ? "" : "s",
                       format_percent(weight_of(box.sum, weight) / weight_of(tree, 0, weight)));
}

// The cells behind a frame are shared out as its time is.
void fill_shares(Canvas& canvas, const Model& model, const FlameTree& tree, const FlameCells& box,
                 FlameColours colours, size_t x, size_t y) {
    if (box.node == no_node) {
        canvas.fill(x, y, box.width, Fill::outside);
        return;
    }
    double before = 0;
    for (const auto& [fill, share] : fills_of(model, tree, box.node, colours)) {
        const auto begin = static_cast<size_t>(std::lround(before * box.width));
        before += share;
        const auto end = std::min<size_t>(box.width, std::lround(before * box.width));
        canvas.fill(x + begin, y, end - std::min(begin, end), fill);
    }
}

} // namespace

size_t FlamePicture::screen_of_row(size_t row) const {
    return upwards ? area_.y + area_.height - 1 - (row - top_) : area_.y + (row - top_);
}

void FlamePicture::scroll_to(const FlameBoxes& layout, uint32_t box) {
    const size_t row = layout.boxes[box].row;
    if (row < top_)
        top_ = row;
    if (row >= top_ + area_.height)
        top_ = row - area_.height + 1;
    top_ = std::min(top_, layout.rows > area_.height ? layout.rows - area_.height : 0);
}

void FlamePicture::draw(Canvas& canvas, const Model& model, const FlameTree& tree,
                        const FlameBoxes& layout, FlameSearch& search, FlameColours colours,
                        Weight weight, uint32_t cursor) const {
    for (uint32_t i = 0; i < layout.boxes.size(); i++) {
        const FlameCells& box = layout.boxes[i];
        if (box.row < top_ || box.row >= top_ + area_.height)
            continue;
        const size_t x = area_.x + box.x, y = screen_of_row(box.row);
        const bool here = i == cursor;
        const bool match = box.node != no_node && search.matches(model, tree, box.node);
        const Style style = here || match ? Style::title : Style::plain;
        // The left edge tells boxes apart without colours, too.
        const std::string_view edge = here ? ">" : match ? "*" : unicode ? "▏" : "|";
        canvas.put(x, y, edge, style);
        if (box.width > 1)
            canvas.put(
                x + 1, y,
                fit_name(text_of(model, tree, box, weight), box.width - 1, unicode ? "…" : ".."),
                style);
        if (here || match)
            canvas.fill(x, y, box.width, here ? Fill::cursor : Fill::match);
        else
            fill_shares(canvas, model, tree, box, colours, x, y);
    }
    mark_hidden_rows(canvas, layout);
}

// Callers' and callees' rows that there is no room for, in the corners beside them.
void FlamePicture::mark_hidden_rows(Canvas& canvas, const FlameBoxes& layout) const {
    const size_t shown_to = top_ + area_.height;
    const size_t callees = layout.rows > shown_to ? layout.rows - shown_to : 0;
    const auto mark = [&](size_t rows, bool at_bottom) {
        if (rows == 0 || area_.height < 3)
            return;
        const std::string_view arrow = unicode ? (at_bottom ? "▼" : "▲") : (at_bottom ? "v" : "^");
        const std::string text =
            fmt::format(" {} {} more row{} ", arrow, rows, rows == 1 ? "" : "s");
        if (text_width(text) > area_.width)
            return;
        const size_t x = area_.x + area_.width - text_width(text);
        const size_t y = at_bottom ? area_.y + area_.height - 1 : area_.y;
        canvas.put(x, y, text, Style::title);
        canvas.fill(x, y, text_width(text), Fill::bar);
    };
    mark(callees, !upwards);
    mark(top_, upwards);
}

uint32_t FlamePicture::box_at(const FlameBoxes& layout, size_t x, size_t y) const {
    if (!area_.contains(x, y))
        return no_node;
    const size_t row = top_ + (upwards ? area_.y + area_.height - 1 - y : y - area_.y);
    for (uint32_t i = 0; i < layout.boxes.size(); i++) {
        const FlameCells& box = layout.boxes[i];
        if (box.row == row && x >= area_.x + box.x && x < area_.x + box.x + box.width)
            return i;
    }
    return no_node;
}

} // namespace auger
