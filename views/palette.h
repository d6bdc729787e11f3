// SPDX-License-Identifier: GPL-3.0-or-later
// The palette: what styles and fills look like, on a terminal with many colours, with eight, or
// with none. The hues are those that people with any kind of colour blindness tell apart (orange,
// blue, vermillion; never red beside green), and nothing is told by colour alone.
#pragma once

#include "views/canvas.h"

#include <cstdint>

namespace auger {

struct CellLook {
    // Numbers of the terminal's colours: 0 to 7, or to 255; -1: its default.
    int foreground = -1, background = -1;
    // The same as 0xrrggbb, where they are not the default.
    uint32_t foreground_rgb = 0, background_rgb = 0;
    bool bold = false, dim = false, underline = false, reverse = false;

    friend bool operator==(const CellLook&, const CellLook&) = default;
};

CellLook look_of(Style, Fill, ColourMode);

} // namespace auger
