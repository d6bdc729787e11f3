// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/flame_tree.h"

#include <algorithm>

namespace auger {

namespace {

uint64_t key_of(uint32_t parent, uint32_t key) {
    return uint64_t{parent} << 32 | key;
}

uint32_t key_of(const FlameNode& node) {
    return node.depth == 1 ? node.label : node.function.value;
}

} // namespace

ClassSums FlameTree::self_classes(uint32_t node) const {
    ClassSums sums;
    for (uint32_t leaf = nodes[node].first_leaf; leaf != no_leaf; leaf = leaves_[leaf].next)
        sums += leaf_sums_.read(leaf, scale);
    return sums;
}

FlamePath FlameTree::path(uint32_t node) const {
    FlamePath path;
    for (uint32_t at = node; at; at = nodes[at].parent) {
        if (nodes[at].depth == 1)
            path.label = labels[nodes[at].label];
        else
            path.functions.push_back(nodes[at].function);
    }
    std::reverse(path.functions.begin(), path.functions.end());
    return path;
}

uint32_t FlameTree::nearest(const FlamePath& path) const {
    if (!path.label)
        return 0;
    uint32_t node = nodes[0].first_child;
    while (node && labels[nodes[node].label] != *path.label)
        node = nodes[node].next_sibling;
    if (!node)
        return 0;
    for (FunctionId function : path.functions) {
        auto next = children_.find(key_of(node, function.value));
        if (!next)
            break;
        node = *next;
    }
    return node;
}

std::optional<uint32_t> FlameTree::find(const FlamePath& path) const {
    uint32_t node = nearest(path);
    size_t depth = path.label ? 1 + path.functions.size() : 0;
    return nodes[node].depth == depth ? std::optional(node) : std::nullopt;
}

uint32_t FlameTree::child(uint32_t parent, uint32_t key) {
    uint32_t fresh = free_.empty() ? static_cast<uint32_t>(nodes.size()) : free_.back();
    auto [node, is_new] = children_.find_or_add(key_of(parent, key), fresh);
    if (!is_new)
        return node;
    if (free_.empty())
        nodes.emplace_back();
    else
        free_.pop_back();
    FlameNode& made = nodes[node];
    made = {};
    made.parent = parent;
    made.depth = nodes[parent].depth + 1;
    (made.depth == 1 ? made.label : made.function.value) = key;
    made.next_sibling = nodes[parent].first_child;
    if (made.next_sibling)
        nodes[made.next_sibling].previous_sibling = node;
    nodes[parent].first_child = node;
    return node;
}

uint32_t FlameTree::node_of(uint32_t label, std::span<const FunctionId> path) {
    uint32_t node = child(0, label);
    for (size_t i = 0; i < path.size(); i++)
        if (i == 0 || path[i] != path[i - 1])
            node = child(node, path[i].value);
    return node;
}

void FlameTree::attach(uint32_t leaf, uint32_t node) {
    leaves_[leaf].node = node;
    leaves_[leaf].previous = no_leaf;
    leaves_[leaf].next = nodes[node].first_leaf;
    if (leaves_[leaf].next != no_leaf)
        leaves_[leaves_[leaf].next].previous = leaf;
    nodes[node].first_leaf = leaf;
}

void FlameTree::detach(uint32_t leaf) {
    const Leaf& at = leaves_[leaf];
    (at.previous == no_leaf ? nodes[at.node].first_leaf : leaves_[at.previous].next) = at.next;
    if (at.next != no_leaf)
        leaves_[at.next].previous = at.previous;
}

void FlameTree::drop_empty(uint32_t node) {
    while (node && nodes[node].first_leaf == no_leaf && !nodes[node].first_child) {
        FlameNode& gone = nodes[node];
        uint32_t parent = gone.parent;
        (gone.previous_sibling ? nodes[gone.previous_sibling].next_sibling
                               : nodes[parent].first_child) = gone.next_sibling;
        if (gone.next_sibling)
            nodes[gone.next_sibling].previous_sibling = gone.previous_sibling;
        children_.erase(key_of(parent, key_of(gone)));
        gone = {};
        sums_.clear(node);
        free_.push_back(node);
        node = parent;
    }
    if (!nodes[0].first_child) { // what rounding has left
        nodes[0].samples = nodes[0].weight_ns = 0;
        sums_.clear(0);
    }
}

std::optional<StackId> FlameTree::stack_through(uint32_t node) const {
    while (nodes[node].first_leaf == no_leaf && nodes[node].first_child)
        node = nodes[node].first_child;
    const uint32_t leaf = nodes[node].first_leaf;
    return leaf == no_leaf ? std::nullopt : std::optional(leaves_[leaf].stack);
}

uint32_t FlameTree::add_leaf(uint32_t label, std::span<const FunctionId> path, StackId stack) {
    uint32_t leaf =
        free_leaves_.empty() ? static_cast<uint32_t>(leaves_.size()) : free_leaves_.back();
    if (free_leaves_.empty())
        leaves_.emplace_back();
    else
        free_leaves_.pop_back();
    leaves_[leaf] = {};
    leaves_[leaf].stack = stack;
    attach(leaf, node_of(label, path));
    return leaf;
}

void FlameTree::add_to_path(uint32_t node, CallClass of, const SampleSum& sum, uint32_t held) {
    for (;; node = nodes[node].parent) {
        nodes[node].held += held;
        nodes[node].samples += sum.samples;
        nodes[node].weight_ns += sum.weight_ns;
        sums_.add(node, of, sum);
        if (!node)
            return;
    }
}

void FlameTree::add(uint32_t leaf, CallClass of, const SampleSum& sum, int32_t held) {
    auto more = static_cast<uint32_t>(held); // modulo 2^32, so it may be negative
    leaves_[leaf].held += more;
    leaf_sums_.add(leaf, of, sum);
    if (!leaves_only_)
        add_to_path(leaves_[leaf].node, of, sum, more);
}

void FlameTree::add_leaf_to_path(uint32_t leaf, uint32_t node, int sign) {
    ClassSums sums = leaf_sums_.read(leaf, 1);
    uint32_t held = sign > 0 ? leaves_[leaf].held : 0 - leaves_[leaf].held;
    for (CallClass c : all_call_classes) {
        if (sums[c].samples != 0 || held)
            add_to_path(node, c, sign > 0 ? sums[c] : -sums[c], held);
        held = 0;
    }
}

void FlameTree::settle(uint32_t leaf) {
    add_leaf_to_path(leaf, leaves_[leaf].node, 1);
}

void FlameTree::move_leaf(uint32_t leaf, uint32_t label, std::span<const FunctionId> path) {
    uint32_t from = leaves_[leaf].node, to = node_of(label, path);
    if (from == to)
        return;
    if (!leaves_only_) {
        add_leaf_to_path(leaf, to, 1);
        add_leaf_to_path(leaf, from, -1);
    }
    detach(leaf);
    attach(leaf, to);
    drop_empty(from);
}

void FlameTree::remove_leaf(uint32_t leaf) {
    uint32_t node = leaves_[leaf].node;
    detach(leaf);
    leaf_sums_.clear(leaf);
    free_leaves_.push_back(leaf);
    drop_empty(node);
}

size_t FlameTree::memory_bytes() const {
    return nodes.capacity() * sizeof(FlameNode) + free_.capacity() * sizeof(uint32_t) +
           sums_.memory_bytes() + children_.memory_bytes() + leaves_.capacity() * sizeof(Leaf) +
           free_leaves_.capacity() * sizeof(uint32_t) + leaf_sums_.memory_bytes();
}

} // namespace auger
