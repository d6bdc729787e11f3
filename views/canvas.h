// SPDX-License-Identifier: GPL-3.0-or-later
// Canvas: cells with a grapheme and a style. Views draw into it; a terminal, a text stream or a
// test reads it. Everything that is drawn is escaped here, so nothing of a target reaches a
// terminal raw.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

enum class ColourMode { none, ansi8, ansi256, truecolour };

// Meanings, not colours: the palette is in one place, and a terminal without colour loses nothing.
enum class Style : uint8_t {
    plain,
    dim,    // context, units, what is not the point
    title,  // headings
    name,   // functions
    kernel, // kernel functions
    number, // figures that matter
    slow,   // the classes
    fast,
    open,
    outside,
    good,
    warning, // losses, failed checks
};

// What lies behind the text of a cell; meanings too.
enum class Fill : uint8_t {
    none,
    bar, // status and headings
    cpu, // frames by what their time was spent on ...
    blocked,
    runnable,
    slow, // ... by class ...
    fast,
    open,
    outside,
    module0, // ... by module ...
    module1,
    module2,
    module3,
    module4,
    module5,
    module6,
    module7,
    module8,
    more, // ... by difference
    less,
    match,  // of a search
    cursor, // where the user is
};

struct Cell {
    std::string text = " "; // one grapheme; empty: the right half of a wide one
    Style style = Style::plain;
    Fill fill = Fill::none;
};

class Canvas {
  public:
    // The width bounds every row; rows are added as they are drawn.
    explicit Canvas(size_t width) : width_(width) {}

    size_t width() const { return width_; }
    size_t height() const { return rows_.size(); }
    // Cells up to the last that was drawn.
    const std::vector<Cell>& row(size_t y) const { return rows_[y]; }

    // Draws escaped text; what is right of the width is cut. Returns the column behind it.
    size_t put(size_t x, size_t y, std::string_view text, Style style = Style::plain,
               Fill fill = Fill::none);
    // The background of `width` cells, whatever is in them.
    void fill(size_t x, size_t y, size_t width, Fill fill);
    // Ends at column `right` (exclusive).
    void put_right(size_t right, size_t y, std::string_view text, Style style = Style::plain);
    // Text in a row of its own below everything, broken at spaces where it is too long.
    void add_line(std::string_view text = {}, Style style = Style::plain, size_t indent = 0);

  private:
    size_t width_;
    std::vector<std::vector<Cell>> rows_;
};

// Rows with newlines, without blanks at their ends. Escape sequences only if `colour` is not none.
std::string to_text(const Canvas&, ColourMode colour = ColourMode::none);

} // namespace auger
