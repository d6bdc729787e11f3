// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_cursor.h"

#include <algorithm>

namespace auger {

namespace {

size_t length_of(const FlamePath& path) {
    return path.label ? 1 + path.functions.size() : 0;
}

// How many steps both paths have in common.
size_t common(const FlamePath& a, const FlamePath& b) {
    if (!a.label || a.label != b.label)
        return 0;
    const auto differ = std::ranges::mismatch(a.functions, b.functions);
    return 1 + static_cast<size_t>(differ.in1 - a.functions.begin());
}

} // namespace

FlamePath FlameCursor::part(size_t depth) const {
    FlamePath path;
    if (depth == 0)
        return path;
    path.label = path_.label;
    path.functions.assign(path_.functions.begin(),
                          path_.functions.begin() + static_cast<std::ptrdiff_t>(depth - 1));
    return path;
}

void FlameCursor::resolve(const FlameTree& tree, const SymbolTables& symbols) {
    locate(tree);
    if (!present_ && anchor_) {
        rename(symbols);
        locate(tree);
    }
    if (!anchor_ && present_ && !path_.functions.empty()) {
        if (const auto node = tree.find(path_)) {
            if (const auto stack = tree.stack_through(*node))
                anchor_ = StackAnchor::of(symbols, *stack, path_.functions);
        }
    }
}

void FlameCursor::rename(const SymbolTables& symbols) {
    StackAnchor::Renamed renamed = anchor_->renamed(symbols);
    if (renamed.path.empty() || renamed.path == path_.functions)
        return;
    const auto now = [&](size_t depth) { return depth < 2 ? depth : renamed.now[depth - 2] + 2; };
    depth_ = now(depth_);
    for (size_t& zoom : zooms_)
        zoom = now(zoom);
    zooms_.erase(std::unique(zooms_.begin(), zooms_.end()), zooms_.end());
    path_.functions = std::move(renamed.path);
    anchor_ = anchor_->of(symbols, path_.functions);
}

void FlameCursor::locate(const FlameTree& tree) {
    const FlamePath path = part(depth_);
    node_ = tree.nearest(path);
    present_ = tree.nodes[node_].depth == depth_;
    zoom_node_ = tree.nearest(part(zoom_depth()));
}

std::optional<FunctionId> FlameCursor::function() const {
    if (depth_ < 2)
        return std::nullopt;
    return path_.functions[depth_ - 2];
}

std::vector<FunctionId> FlameCursor::callers() const {
    if (depth_ < 3)
        return {};
    const auto last = path_.functions.begin() + static_cast<std::ptrdiff_t>(depth_ - 2);
    return {std::make_reverse_iterator(last), path_.functions.rend()};
}

std::string FlameCursor::name_of(const Model& model, size_t depth) const {
    if (depth == 0)
        return "all";
    if (depth == 1)
        return *path_.label;
    return std::string(model.symbols().name(path_.functions[depth - 2]));
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

void FlameCursor::move_to(const FlameTree& tree, const SymbolTables& symbols, uint32_t node) {
    FlamePath path = tree.path(node);
    depth_ = length_of(path);
    const size_t same = common(path, path_);
    // A zoom into a frame that has gone, and that the cursor leaves, ends.
    while (!zooms_.empty() && zooms_.back() > same)
        zooms_.pop_back();
    // What lies below is remembered only where the cursor came up from there.
    if (same < depth_) {
        path_ = std::move(path);
        anchor_.reset();
    }
    resolve(tree, symbols);
}

void FlameCursor::to_parent() {
    if (depth_ > zoom_depth())
        depth_--;
}

bool FlameCursor::to_known_child(const FlameTree& tree, const SymbolTables& symbols) {
    if (!present_ || depth_ >= length_of(path_) || !tree.find(part(depth_ + 1)))
        return false;
    depth_++;
    resolve(tree, symbols);
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
