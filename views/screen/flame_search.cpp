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
    order_.assign(tree.nodes.size(), 0);
    struct Item {
        uint32_t node;
        bool inside; // of a frame that fits
    };
    std::vector<Item> todo{{root, false}};
    std::vector<uint32_t> children;
    uint32_t place = 0;
    double matched = 0;
    while (!todo.empty()) {
        Item item = todo.back();
        todo.pop_back();
        order_[item.node] = ++place;
        const double own = weight_of(tree.total(item.node), weight);
        if (own <= 0)
            continue;
        if (matches(model, tree, item.node)) {
            found_.push_back(item.node);
            if (!item.inside)
                matched += own;
            item.inside = true;
        }
        children.clear();
        for (uint32_t c = tree.nodes[item.node].first_child; c; c = tree.nodes[c].next_sibling)
            children.push_back(c);
        std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
            return node_name(model, tree, tree.nodes[a]) > node_name(model, tree, tree.nodes[b]);
        });
        for (uint32_t c : children)
            todo.push_back({c, item.inside});
    }
    const double whole = weight_of(tree.total(root), weight);
    share_ = whole > 0 ? matched / whole : 0;
    number_ = std::min(number_, found_.size());
}

std::optional<uint32_t> FlameSearch::step(const FlameTree&, uint32_t from, bool forward) {
    if (found_.empty() || from >= order_.size())
        return std::nullopt;
    const uint32_t place = order_[from];
    // found_ is in the order of the picture.
    auto next = std::upper_bound(found_.begin(), found_.end(), place,
                                 [&](uint32_t p, uint32_t node) { return p < order_[node]; });
    if (!forward) {
        next = std::lower_bound(found_.begin(), found_.end(), place,
                                [&](uint32_t node, uint32_t p) { return order_[node] < p; });
        next = next == found_.begin() ? found_.end() - 1 : next - 1;
    } else if (next == found_.end()) {
        next = found_.begin();
    }
    number_ = static_cast<size_t>(next - found_.begin()) + 1;
    return *next;
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
