// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the boxes of a flame into a rectangle, as many rows as it has; and knows which box is
// where.
#pragma once

#include "views/screen/flame_boxes.h"
#include "views/screen/flame_colours.h"
#include "views/screen/flame_search.h"
#include "views/screen/pane.h"

namespace auger {

class FlamePicture {
  public:
    bool upwards = false; // the root at the bottom
    bool unicode = true;

    void place(const Rect& area) { area_ = area; }
    const Rect& area() const { return area_; }
    // Scrolls so that the box is within the area.
    void scroll_to(const FlameBoxes&, uint32_t box);
    void scroll_to_root() { top_ = 0; }

    // `cursor`: a box, or no_node.
    void draw(Canvas&, const Model&, const FlameTree&, const FlameBoxes&, FlameSearch&,
              FlameColours effective, Weight, uint32_t cursor) const;
    // The box at a place of the screen; no_node where there is none.
    uint32_t box_at(const FlameBoxes&, size_t x, size_t y) const;

  private:
    size_t screen_of_row(size_t row) const;
    void mark_hidden_rows(Canvas&, const FlameBoxes&) const;

    Rect area_;
    size_t top_ = 0; // the layout's first row that is shown
};

} // namespace auger
