// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_boxes.h"

#include <algorithm>
#include <cmath>

namespace auger {

double weight_of(const SampleSum& sum, Weight weight) {
    return weight == Weight::time ? sum.weight_ns : sum.samples;
}

double weight_of(const FlameTree& tree, uint32_t node, Weight weight) {
    return weight == Weight::time ? tree.weight_ns(node) : tree.samples(node);
}

uint32_t widest_child(const FlameTree& tree, uint32_t node, Weight weight) {
    uint32_t widest = 0;
    double most = 0;
    for (uint32_t c = tree.nodes[node].first_child; c; c = tree.nodes[c].next_sibling) {
        if (const double own = weight_of(tree, c, weight); own > most) {
            most = own;
            widest = c;
        }
    }
    return widest;
}

uint32_t FlameBoxes::find(uint32_t node) const {
    for (uint32_t i = 0; i < boxes.size(); i++) {
        if (boxes[i].node == node)
            return i;
    }
    return no_node;
}

uint32_t FlameBoxes::showing(const FlameTree& tree, uint32_t node) const {
    uint32_t box = find(node);
    if (box != no_node)
        return box;
    while (box == no_node && node != 0) {
        node = tree.nodes[node].parent;
        box = find(node);
    }
    if (box == no_node)
        return 0;
    for (uint32_t i = 0; i < boxes.size(); i++) {
        if (boxes[i].node == no_node && boxes[i].parent == box)
            return i;
    }
    return box;
}

FlameBoxes lay_out_boxes(const Model& model, const FlameTree& tree, uint32_t root, uint32_t width,
                         Weight weight) {
    FlameBoxes layout;
    if (width == 0 || root >= tree.nodes.size())
        return layout;
    struct Child {
        uint32_t node;
        SampleSum sum;
        std::string_view name;
    };
    std::vector<Child> wide;
    layout.boxes.push_back({.node = root, .width = width, .sum = tree.total(root)});
    for (uint32_t i = 0; i < layout.boxes.size(); i++) {
        const FlameCells box = layout.boxes[i];
        layout.rows = box.row + 1;
        if (box.node == no_node)
            continue;
        const double whole = weight_of(box.sum, weight);
        if (!(whole > 0))
            continue;
        const double scale = box.width / whole;
        wide.clear();
        FlameCells shared;
        shared.parent = i;
        shared.row = box.row + 1;
        for (uint32_t c = tree.nodes[box.node].first_child; c; c = tree.nodes[c].next_sibling) {
            SampleSum sum = tree.total(c);
            if (!(weight_of(sum, weight) > 0))
                continue;
            // An only child of a box of one cell is as wide as it, but for rounding.
            if (weight_of(sum, weight) * scale >= 1 - 1e-9) {
                wide.push_back({c, sum, node_name(model, tree, tree.nodes[c])});
            } else {
                shared.merged++;
                shared.sum += sum;
            }
        }
        std::sort(wide.begin(), wide.end(), [](const Child& a, const Child& b) {
            return a.name != b.name ? a.name < b.name : a.node < b.node;
        });
        // Edges are rounded, not widths: what is cut from one box is not added to the next.
        double before = 0;
        auto place = [&](FlameCells cells) {
            auto left = static_cast<uint32_t>(std::lround(before * scale));
            before += weight_of(cells.sum, weight);
            auto right = std::min(box.width, static_cast<uint32_t>(std::lround(before * scale)));
            if (right <= left)
                return false;
            cells.x = box.x + left;
            cells.width = right - left;
            layout.boxes.push_back(cells);
            return true;
        };
        for (const Child& child : wide)
            place({.node = child.node, .parent = i, .row = box.row + 1, .sum = child.sum});
        if (shared.merged && !place(shared))
            layout.boxes[i].narrow = shared.merged;
    }
    return layout; // breadth first: by row, and within a row from left to right
}

} // namespace auger
