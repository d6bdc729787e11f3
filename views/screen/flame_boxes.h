// SPDX-License-Identifier: GPL-3.0-or-later
// Boxes of the flame on a screen: a child lies within its parent, siblings do not overlap, and what
// is narrower than a cell shares one box with its siblings, so that nothing is missing from the
// picture.
#pragma once

#include "views/model/fold.h"

#include <cstdint>
#include <vector>

namespace auger {

enum class Weight : uint8_t { time, samples };
double weight_of(const SampleSum&, Weight);
double weight_of(const FlameTree&, uint32_t node, Weight);

// The child with the most weight; 0: none.
uint32_t widest_child(const FlameTree&, uint32_t node, Weight);

inline constexpr uint32_t no_node = UINT32_MAX;

struct FlameCells {
    uint32_t node = no_node;   // no_node: several narrow siblings
    uint32_t parent = no_node; // index of a box; no_node: the root's
    uint32_t row = 0;
    uint32_t x = 0;
    uint32_t width = 0;  // > 0
    uint32_t merged = 0; // frames in here, of several narrow siblings
    uint32_t narrow = 0; // children that no box shows, not even a shared one
    SampleSum sum;
};

struct FlameBoxes {
    std::vector<FlameCells> boxes; // by row, then from left to right
    uint32_t rows = 0;

    // The box of a node; no_node when it has none.
    uint32_t find(uint32_t node) const;
    // The box that shows it: its own, the one it shares, or that of a frame around it.
    uint32_t showing(const FlameTree&, uint32_t node) const;
};

// The children of one parent stay in the order of their names, the shared box last.
FlameBoxes lay_out_boxes(const Model&, const FlameTree&, uint32_t root, uint32_t width, Weight);

} // namespace auger
