// SPDX-License-Identifier: GPL-3.0-or-later
// The flame as text: which frames become rows of a tree, without drawing anything. What is too
// small for a row is counted, not lost.
#pragma once

#include "views/model/fold.h"

namespace auger {

// A row of the tree, root first, heaviest child first. A chain of single children of
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
