// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of a flame tell.
#pragma once

#include "views/canvas.h"
#include "views/model/fold.h"

#include <string_view>
#include <utility>
#include <vector>

namespace auger {

enum class FlameColours : uint8_t {
    automatic, // the most telling of the others
    waits,     // running, blocked, runnable
    classes,   // of the split
    modules,
};

// One of the others.
FlameColours effective(FlameColours, const Model&, const SampleSum& whole);
FlameColours next_after(FlameColours effective);
std::string_view name_of(FlameColours);

// How a frame's time is shared out; the shares add up to 1.
struct FillShare {
    Fill fill = Fill::none;
    double share = 0;
};
std::vector<FillShare> fills_of(const Model&, const FlameTree&, uint32_t node,
                                FlameColours effective);

} // namespace auger
