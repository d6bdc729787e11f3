// SPDX-License-Identifier: GPL-3.0-or-later
// A rectangle of a canvas, addressed from its own corner. Whatever is drawn ends at its edges.
#pragma once

#include "views/screen/pane.h"

namespace auger {

class Area {
  public:
    Area(Canvas& canvas, const Rect& rect, bool unicode)
        : canvas_(canvas), rect_(rect), unicode_(unicode) {}

    size_t width() const { return rect_.width; }
    size_t height() const { return rect_.height; }
    const Rect& rect() const { return rect_; }
    bool unicode() const { return unicode_; }
    Area part(size_t x, size_t y, size_t width, size_t height) const;

    // What is beyond the edges is cut; returns the column behind the text.
    size_t put(size_t x, size_t y, std::string_view text, Style style = Style::plain,
               Fill fill = Fill::none);
    // Ends at column `right` (exclusive); cut at the left edge it is not drawn at all.
    void put_right(size_t right, size_t y, std::string_view text, Style style = Style::plain);
    // At most `width` columns; see fit_name().
    size_t put_name(size_t x, size_t y, std::string_view text, size_t width, Style style);
    // Cells of another canvas, as they are.
    void put_row(size_t x, size_t y, const std::vector<Cell>& cells);
    void fill(size_t x, size_t y, size_t width, Fill fill);
    // Text broken at spaces from row `y` on; returns the row below it.
    size_t put_lines(size_t y, std::string_view text, Style style = Style::plain,
                     size_t indent = 0);

  private:
    Canvas& canvas_;
    Rect rect_;
    bool unicode_;
};

} // namespace auger
