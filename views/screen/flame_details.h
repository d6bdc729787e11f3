// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the frame under the cursor, in a line or two.
#pragma once

#include "views/screen/flame_boxes.h"
#include "views/screen/flame_colours.h"
#include "views/screen/function_source.h"
#include "views/screen/pane.h"

namespace auger {

struct FlameDetails {
    std::string name;   // raw
    std::string module; // likewise; empty: none
    FunctionSource source;
    std::optional<ClassSums> total; // nothing: it was not sampled
    SampleSum self;
    SampleSum zoom, all;
    uint32_t narrow = 0; // frames below it that are too narrow to be drawn
    Weight weight = Weight::time;
    FlameColours colours = FlameColours::modules; // effective
    bool split = false;
    FrameChoice frames = FrameChoice::all;
    std::string search; // its state; empty: none
};

void draw_flame_details(Canvas&, const Rect&, const Model&, const FlameDetails&);

} // namespace auger
