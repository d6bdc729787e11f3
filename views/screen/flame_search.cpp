// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_search.h"

#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

std::string FlameSearch::start(const std::optional<std::string>& expression) {
    pattern_.reset();
    by_function_.clear();
    found_.clear();
    number_ = 0;
    if (!expression)
        return {};
    auto compiled = Pattern::compile(*expression);
    if (!compiled)
        return compiled.error().message();
    pattern_ = std::move(*compiled);
    return {};
}

bool FlameSearch::matches(const Model& model, const FlameTree& tree, uint32_t node) {
    if (!pattern_)
        return false;
    const FlameNode& at = tree.nodes[node];
    if (at.depth < 2)
        return pattern_->matches(node_name(model, tree, at));
    const size_t index = at.function.index();
    if (index >= by_function_.size())
        by_function_.resize(std::max(index + 1, model.symbols().functions()), -1);
    if (by_function_[index] < 0)
        by_function_[index] = pattern_->matches(model.symbols().name(at.function));
    return by_function_[index] > 0;
}

void FlameSearch::update(const Model& model, const FlameTree& tree, uint32_t root, Weight weight) {
    found_.clear();
    if (!pattern_)
        return;
    struct Item {
        uint32_t node;
        bool inside; // of a frame that fits
    };
    std::vector<Item> todo{{root, false}};
    double matched = 0;
    while (!todo.empty()) {
        Item item = todo.back();
        todo.pop_back();
        const double own = weight_of(tree, item.node, weight);
        if (own <= 0)
            continue;
        if (matches(model, tree, item.node)) {
            found_.push_back(item.node);
            if (!item.inside)
                matched += own;
            item.inside = true;
        }
        for (uint32_t c = tree.nodes[item.node].first_child; c; c = tree.nodes[c].next_sibling)
            todo.push_back({c, item.inside});
    }
    const double whole = weight_of(tree, root, weight);
    share_ = whole > 0 ? matched / whole : 0;
    number_ = std::min(number_, found_.size());
}

namespace {

// In the picture, outer frames come first, then siblings by their names.
bool comes_before(const Model& model, const FlameTree& tree, uint32_t a, uint32_t b) {
    const uint32_t depth_a = tree.nodes[a].depth, depth_b = tree.nodes[b].depth;
    while (tree.nodes[a].depth > tree.nodes[b].depth)
        a = tree.nodes[a].parent;
    while (tree.nodes[b].depth > tree.nodes[a].depth)
        b = tree.nodes[b].parent;
    if (a == b)
        return depth_a < depth_b;
    while (tree.nodes[a].parent != tree.nodes[b].parent) {
        a = tree.nodes[a].parent;
        b = tree.nodes[b].parent;
    }
    const auto name_a = node_name(model, tree, tree.nodes[a]),
               name_b = node_name(model, tree, tree.nodes[b]);
    return name_a != name_b ? name_a < name_b : a < b;
}

} // namespace

// One look at each: sorting them all would take seconds where a large tree fits everywhere.
std::optional<uint32_t> FlameSearch::heaviest(const Model& model, const FlameTree& tree,
                                              Weight weight) {
    if (found_.empty())
        return std::nullopt;
    const uint32_t most =
        *std::max_element(found_.begin(), found_.end(), [&](uint32_t a, uint32_t b) {
            return weight_of(tree, a, weight) < weight_of(tree, b, weight);
        });
    number_of(model, tree, most);
    return most;
}

std::optional<uint32_t> FlameSearch::step(const Model& model, const FlameTree& tree, uint32_t from,
                                          bool forward) {
    if (found_.empty())
        return std::nullopt;
    // In the direction of the step: the nearest behind `from`, and the first of all.
    const auto before = [&](uint32_t a, uint32_t b) {
        return forward ? comes_before(model, tree, a, b) : comes_before(model, tree, b, a);
    };
    uint32_t first = found_.front(), next = no_node;
    for (uint32_t node : found_) {
        if (before(node, first))
            first = node;
        if (before(from, node) && (next == no_node || before(node, next)))
            next = node;
    }
    if (next == no_node)
        next = first;
    number_of(model, tree, next);
    return next;
}

void FlameSearch::number_of(const Model& model, const FlameTree& tree, uint32_t match) {
    number_ =
        1 + static_cast<size_t>(std::count_if(found_.begin(), found_.end(), [&](uint32_t node) {
            return comes_before(model, tree, node, match);
        }));
}

std::string FlameSearch::text() const {
    if (!pattern_)
        return {};
    if (found_.empty())
        return "no frame fits";
    if (number_ == 0)
        return fmt::format("{} fit, {}", found_.size(), format_percent(share_));
    return fmt::format("{} of {}, {}", number_, found_.size(), format_percent(share_));
}

} // namespace auger
