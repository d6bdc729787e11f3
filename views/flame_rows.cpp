// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame_rows.h"

#include <algorithm>

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
