// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of a flame tell.
#pragma once

#include "views/canvas.h"
#include "views/model/fold.h"

#include <span>
#include <string_view>
#include <vector>

namespace auger {

enum class FlameColours : uint8_t {
    automatic, // the most telling of the others
    waits,     // running, blocked, runnable
    classes,   // of the split
    modules,
    languages, // kernel, native, Python, Java, JavaScript, PHP, Ruby, Perl, other generated code
};

// One of the others.
FlameColours effective(FlameColours, const Model&, const SampleSum& whole);
FlameColours next_after(FlameColours effective);

// How a frame's time is shared out; the shares add up to 1.
struct FillShare {
    Fill fill = Fill::none;
    double share = 0;
};
// What each colour of `languages` stands for.
struct FillName {
    Fill fill;
    std::string_view name;
};
std::span<const FillName> language_fills();

std::vector<FillShare> fills_of(const Model&, const FlameTree&, uint32_t node,
                                FlameColours effective);

} // namespace auger
