// SPDX-License-Identifier: GPL-3.0-or-later
// Where each frame of a flame goes, in whole cells, without drawing anything. A child lies within
// its parent, siblings do not overlap, and what is too narrow for a cell is counted, not lost.
#pragma once

#include "views/model/fold.h"

namespace auger {

struct FlameBox {
    uint32_t node = 0;
    uint32_t row = 0; // the node's depth below the layout's root
    uint32_t x = 0;
    uint32_t width = 0; // > 0
};

struct FlameLayout {
    std::vector<FlameBox> boxes; // by row, then from left to right
    uint32_t hidden_nodes = 0;   // nodes without a box, with everything below them
    SampleSum hidden;            // samples below a box that no box of its children shows
};

// Lays out `root` and everything below it over `width` cells, by weight.
// Siblings are ordered by name, so that they keep their places while sums change.
FlameLayout layout_flame(const Model&, const FlameTree&, uint32_t root, uint32_t width);

// Rows of the text flame: a tree, root first, heaviest child first. A chain of single children of
// about the same weight is one row.
struct FlameRow {
    std::vector<uint32_t> chain; // nodes, outermost first; empty for a line about what was cut
    uint32_t indent = 0;
    SampleSum total;
    SampleSum self;          // of the last node in the chain
    uint32_t cut_frames = 0; // for a line about what was cut: how many frames, with total's samples
};

// Children under `min_share` of the whole are cut; the rows' sums always add up: the total of a row
// is its own self plus the totals of the rows directly below it.
std::vector<FlameRow> list_flame(const FlameTree&, double min_share);

} // namespace auger
