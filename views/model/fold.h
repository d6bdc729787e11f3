// SPDX-License-Identifier: GPL-3.0-or-later
// Folding: samples of a window become a tree of functions with sums by class. Root first: thread
// name, user frames from the outermost caller to the leaf, then kernel frames. Inlined functions
// are nodes of their own.
#pragma once

#include "views/model/classifier.h"
#include "views/model/model.h"

namespace auger {

struct FlameNode {
    uint32_t parent = 0;
    uint32_t first_child = 0;  // 0: none (the root is nobody's child)
    uint32_t next_sibling = 0; // 0: none
    uint32_t depth = 0;        // 0 the root, 1 thread names, 2.. functions
    FunctionId function;       // of depth 2 and more
    StringId comm;             // of depth 1
    ClassSums self;
    ClassSums total;
};

struct FlameTree {
    std::vector<FlameNode> nodes; // nodes[0] is the root; parents come before their children
    uint64_t from_ns = 0;         // what the tree covers
    uint64_t to_ns = 0;
    bool decayed = false; // sums are weighted by age

    const FlameNode& root() const { return nodes[0]; }
};

// Sums by trace; index is the TraceId. The step of every query that looks at each sample.
std::vector<ClassSums> sum_traces(const Model&, const Classifier&, const Window&);

// With `filter`, only samples of this class are in the tree.
FlameTree fold(const Model&, const Window&, ClassFilter filter = {});

// The name that a view shows for a node, raw: "all", a thread's name, or a function.
std::string_view node_name(const Model&, const FlameNode&);

// The functions of a stack, root first, inlined ones included.
void expand_stack(const SymbolTables&, StackId, std::vector<FunctionId>& out);

struct FunctionSums {
    FunctionId function;
    ClassSums self;
    ClassSums total; // once a sample, however often the function is on its stack
};

// Every function that is on a stack, unordered.
std::vector<FunctionSums> sum_functions(const Model&, const Window&, ClassFilter filter = {});

} // namespace auger
