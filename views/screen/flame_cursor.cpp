// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_cursor.h"

#include <algorithm>

namespace auger {

FlameCursor::Step FlameCursor::step_of(const FlameTree& tree, uint32_t node) {
    const FlameNode& at = tree.nodes[node];
    return at.depth == 1 ? Step{tree.labels[at.label], {}} : Step{{}, at.function};
}

uint32_t FlameCursor::child(const FlameTree& tree, uint32_t node, const Step& step) {
    for (uint32_t c = tree.nodes[node].first_child; c; c = tree.nodes[c].next_sibling) {
        if (step_of(tree, c) == step)
            return c;
    }
    return 0;
}

void FlameCursor::resolve(const FlameTree& tree) {
    node_ = zoom_node_ = 0;
    size_t depth = 0;
    for (; depth < depth_; depth++) {
        const uint32_t next = child(tree, node_, path_[depth]);
        if (!next)
            break;
        node_ = next;
        if (depth + 1 == zoom_depth())
            zoom_node_ = next;
    }
    present_ = depth == depth_;
    if (depth < zoom_depth())
        zoom_node_ = node_;
}

std::optional<FunctionId> FlameCursor::function() const {
    if (depth_ < 2)
        return std::nullopt;
    return path_[depth_ - 1].function;
}

std::string FlameCursor::name_of(const Model& model, size_t depth) const {
    if (depth == 0)
        return "all";
    const Step& step = path_[depth - 1];
    return depth == 1 ? step.label : std::string(model.symbols().name(step.function));
}

std::string FlameCursor::name(const Model& model) const {
    return name_of(model, depth_);
}

std::vector<std::string> FlameCursor::zoom_names(const Model& model) const {
    std::vector<std::string> names;
    for (size_t depth : zooms_)
        names.push_back(name_of(model, depth));
    return names;
}

void FlameCursor::move_to(const FlameTree& tree, uint32_t node) {
    std::vector<Step> path;
    for (uint32_t at = node; at; at = tree.nodes[at].parent)
        path.push_back(step_of(tree, at));
    std::reverse(path.begin(), path.end());
    depth_ = path.size();
    // What lies below is remembered only where the cursor came up from there.
    if (path.size() <= path_.size() && std::equal(path.begin(), path.end(), path_.begin()))
        path = std::move(path_);
    path_ = std::move(path);
    node_ = node;
    present_ = true;
}

void FlameCursor::to_parent() {
    if (depth_ > zoom_depth())
        depth_--;
}

bool FlameCursor::to_known_child(const FlameTree& tree) {
    if (!present_ || depth_ >= path_.size())
        return false;
    const uint32_t next = child(tree, node_, path_[depth_]);
    if (!next)
        return false;
    depth_++;
    node_ = next;
    return true;
}

void FlameCursor::zoom_in() {
    if (depth_ > zoom_depth())
        zooms_.push_back(depth_);
}

bool FlameCursor::zoom_out() {
    if (zooms_.empty())
        return false;
    zooms_.pop_back();
    return true;
}

} // namespace auger
