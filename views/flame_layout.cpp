// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame_layout.h"

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

std::vector<uint32_t> children_of(const FlameTree& tree, uint32_t node) {
    std::vector<uint32_t> children;
    for (uint32_t c = tree.nodes[node].first_child; c; c = tree.nodes[c].next_sibling)
        children.push_back(c);
    return children;
}

uint32_t count_below(const FlameTree& tree, uint32_t node) {
    uint32_t count = 0;
    std::vector<uint32_t> stack{node};
    while (!stack.empty()) {
        uint32_t at = stack.back();
        stack.pop_back();
        if (tree.total(at).samples == 0)
            continue;
        count++;
        for (uint32_t c = tree.nodes[at].first_child; c; c = tree.nodes[c].next_sibling)
            stack.push_back(c);
    }
    return count;
}

} // namespace

FlameLayout layout_flame(const Model& model, const FlameTree& tree, uint32_t root, uint32_t width) {
    FlameLayout layout;
    if (width == 0 || root >= tree.nodes.size())
        return layout;
    layout.boxes.push_back({root, 0, 0, width});
    for (size_t i = 0; i < layout.boxes.size(); i++) {
        const FlameBox box = layout.boxes[i];
        double whole = tree.total(box.node).weight_ns;
        std::vector<uint32_t> children = children_of(tree, box.node);
        std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
            return node_name(model, tree, tree.nodes[a]) < node_name(model, tree, tree.nodes[b]);
        });
        // Edges are rounded, not widths: what is cut from one box is not added to the next.
        double before = 0;
        for (uint32_t child : children) {
            SampleSum sum = tree.total(child);
            if (sum.samples == 0)
                continue;
            double scale = whole > 0 ? box.width / whole : 0;
            auto left = static_cast<uint32_t>(std::lround(before * scale));
            before += sum.weight_ns;
            auto right =
                std::min<uint32_t>(box.width, static_cast<uint32_t>(std::lround(before * scale)));
            if (right > left) {
                layout.boxes.push_back({child, box.row + 1, box.x + left, right - left});
            } else {
                layout.hidden_nodes += count_below(tree, child);
                layout.hidden += sum;
            }
        }
    }
    return layout; // breadth first: by row, and within a row from left to right
}

namespace {

class RowLister {
  public:
    RowLister(const FlameTree& tree, double min_share)
        : tree_(tree), min_weight_(min_share * tree.total().weight_ns) {}

    std::vector<FlameRow> list() {
        if (tree_.total().samples > 0)
            add_all();
        return std::move(rows_);
    }

  private:
    SampleSum total(uint32_t node) const { return tree_.total(node); }

    std::vector<uint32_t> visible_children(uint32_t node) const {
        std::vector<uint32_t> children = children_of(tree_, node);
        std::erase_if(children, [&](uint32_t c) { return total(c).samples == 0; });
        std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
            double wa = total(a).weight_ns, wb = total(b).weight_ns;
            return wa != wb ? wa > wb : a < b;
        });
        return children;
    }

    // An explicit stack: a flame can be deeper than ours should get.
    void add_all() {
        struct Item {
            uint32_t node, indent;
            bool cut;
            FlameRow cut_row;
        };
        std::vector<Item> todo{{0, 0, false, {}}};
        while (!todo.empty()) {
            Item item = std::move(todo.back());
            todo.pop_back();
            if (item.cut) {
                rows_.push_back(std::move(item.cut_row));
                continue;
            }
            FlameRow row;
            row.indent = item.indent;
            row.total = total(item.node);
            row.chain.push_back(item.node);
            std::vector<uint32_t> children = visible_children(item.node);
            // Only where nothing is lost by it: the node has nothing of its own and one child.
            while (children.size() == 1 && row.chain.back() != 0 &&
                   tree_.self(row.chain.back()).samples == 0) {
                row.chain.push_back(children[0]);
                children = visible_children(row.chain.back());
            }
            row.self = tree_.self(row.chain.back());
            FlameRow cut;
            cut.indent = item.indent + 1;
            std::vector<Item> below;
            for (uint32_t child : children) {
                if (total(child).weight_ns >= min_weight_) {
                    below.push_back({child, item.indent + 1, false, {}});
                } else {
                    cut.cut_frames += count_below(tree_, child);
                    cut.total += total(child);
                }
            }
            if (cut.cut_frames)
                todo.push_back({0, 0, true, std::move(cut)});
            for (size_t i = below.size(); i-- > 0;)
                todo.push_back(std::move(below[i]));
            rows_.push_back(std::move(row));
        }
    }

    const FlameTree& tree_;
    double min_weight_;
    std::vector<FlameRow> rows_;
};

} // namespace

std::vector<FlameRow> list_flame(const FlameTree& tree, double min_share) {
    return RowLister(tree, min_share).list();
}

} // namespace auger
