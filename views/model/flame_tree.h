// SPDX-License-Identifier: GPL-3.0-or-later
// The tree of a flame: labels below the root, then functions from the outermost caller on. It can
// be edited: leaves (what one stack of addresses adds to one label) come, gain and lose weight, go,
// and move when their functions get better names; every edit costs as much as the path is long. So
// the same tree is built by one fold and kept up to date by a stream.
#pragma once

#include "views/model/flat_map.h"
#include "views/model/sum_columns.h"
#include "views/model/symbol_tables.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

inline constexpr uint32_t no_leaf = UINT32_MAX;

// Its sums are asked of the tree.
struct FlameNode {
    uint32_t parent = 0;
    uint32_t first_child = 0; // 0: none (the root is nobody's child); in no order
    uint32_t next_sibling = 0;
    uint32_t previous_sibling = 0;
    uint32_t depth = 0;  // 0 the root, 1 labels, 2.. functions
    FunctionId function; // of depth 2 and more
    uint32_t label = 0;  // of depth 1; in FlameTree::labels
    uint32_t first_leaf = no_leaf;
    // Samples in it, however faint. 0: a free slot, which is nobody's child (or an empty root).
    uint32_t held = 0;
    double samples = 0; // of all classes, before FlameTree::scale
    double weight_ns = 0;
};

// Names a frame whatever becomes of the tree: where nodes are numbered anew, the path stays.
struct FlamePath {
    std::optional<std::string> label; // nothing: the root
    std::vector<FunctionId> functions;
    friend bool operator==(const FlamePath&, const FlamePath&) = default;
};

class FlameTree {
  public:
    FlameTree() : nodes(1) {}

    std::vector<std::string> labels; // raw
    std::vector<FlameNode> nodes;    // nodes[0] is the root; some slots may be free
    uint64_t from_ns = 0;            // what the tree covers
    uint64_t to_ns = 0;
    bool decayed = false; // sums are weighted by age
    double scale = 1;     // from the sums as kept to those at to_ns
    // Of an ewma window: samples too faint for any node, before `scale`. With them the sums of the
    // window are whole.
    SampleSum faded;

    const FlameNode& root() const { return nodes[0]; }
    size_t frames() const { return nodes.size() - free_.size(); } // the root included
    SampleSum total(uint32_t node = 0) const { return classes(node).sum(); }
    ClassSums classes(uint32_t node = 0) const { return sums_.read(node, scale); }
    // Of the stacks that end there.
    SampleSum self(uint32_t node) const { return self_classes(node).sum(); }
    ClassSums self_classes(uint32_t node) const;
    // The parts of total() that a layout needs of every child.
    double samples(uint32_t node) const { return nodes[node].samples * scale; }
    double weight_ns(uint32_t node) const { return nodes[node].weight_ns * scale; }

    FlamePath path(uint32_t node) const;
    // The node at the end of the path; where it leaves the tree, the last one that is in it.
    uint32_t nearest(const FlamePath&) const;
    std::optional<uint32_t> find(const FlamePath&) const;
    // Some stack of addresses that the node's frame is in; nothing in an empty tree.
    std::optional<StackId> stack_through(uint32_t node) const;

    // Editing. Paths are root first; direct recursion is one frame: how deep it is says little, and
    // costs a screen.
    uint32_t add_leaf(uint32_t label, std::span<const FunctionId> path, StackId);
    // `held` samples more (or fewer).
    void add(uint32_t leaf, CallClass, const SampleSum&, int32_t held = 1);
    void move_leaf(uint32_t leaf, uint32_t label, std::span<const FunctionId> path);
    // One that holds no samples.
    void remove_leaf(uint32_t leaf);
    // Until they are settled, leaves alone are summed up: far less work where many samples are put
    // in before anybody looks. Every leaf must be settled, then end_summing() said.
    void begin_summing() { leaves_only_ = true; }
    void settle(uint32_t leaf);
    void end_summing() { leaves_only_ = false; }
    uint32_t held(uint32_t leaf) const { return leaves_[leaf].held; }
    StackId stack(uint32_t leaf) const { return leaves_[leaf].stack; }
    uint32_t depth(uint32_t leaf) const { return nodes[leaves_[leaf].node].depth; }
    size_t memory_bytes() const;

  private:
    struct Leaf {
        uint32_t node = 0;
        uint32_t next = no_leaf; // at the same node
        uint32_t previous = no_leaf;
        uint32_t held = 0;
        StackId stack;
    };
    uint32_t child(uint32_t parent, uint32_t key);
    uint32_t node_of(uint32_t label, std::span<const FunctionId> path);
    void attach(uint32_t leaf, uint32_t node);
    void detach(uint32_t leaf);
    void drop_empty(uint32_t node);
    void add_leaf_to_path(uint32_t leaf, uint32_t node, int sign);
    void add_to_path(uint32_t node, CallClass, const SampleSum&, uint32_t held);

    std::vector<uint32_t> free_;
    SumColumns sums_; // by node
    FlatMap children_;
    std::vector<Leaf> leaves_;
    std::vector<uint32_t> free_leaves_;
    SumColumns leaf_sums_;
    bool leaves_only_ = false;
};

} // namespace auger
