// SPDX-License-Identifier: GPL-3.0-or-later
// Folding: samples of a window become a tree of functions with sums by class. Root first: a label
// (see GroupBy), user frames from the outermost caller to the leaf, then kernel frames. Inlined
// functions are nodes of their own.
#pragma once

#include "views/model/classifier.h"
#include "views/model/flame_tree.h"
#include "views/model/frame_choice.h"
#include "views/model/group_by.h"
#include "views/model/model.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Which samples a flame is of, and how they are told apart.
struct SampleSelection {
    ClassFilter filter;
    GroupBy by = GroupBy::process;
    std::string under; // see FramesUnder; empty: everything
    FrameChoice frames = FrameChoice::all;
};

// Everything here counts only samples of `filter`'s class, and none that `only` leaves out.
//
// Sums by stack; index is the StackId, and the last is of undefined stacks. The step of every query
// that looks at each sample.
std::vector<ClassSums> sum_stacks(const Model&, const Classifier&, const Window&,
                                  const ClassFilter& filter = {});

// Sums by stack and label: what one leaf of a flame is. In no order.
struct LabelledSums {
    struct Entry {
        StackId stack;
        uint32_t label; // in `labels`
        ClassSums sums;
    };
    std::vector<std::string> labels; // raw
    std::vector<Entry> entries;
};
LabelledSums sum_labelled_stacks(const Model&, const Classifier&, const Window&, GroupBy,
                                 const ClassFilter& filter = {});

// `under`: see FramesUnder. A sample without a frame of those that are shown counts as its label's
// own.
FlameTree fold(const Model&, const Window&, const ClassFilter& filter = {},
               GroupBy by = GroupBy::process, const std::string& under = {},
               FrameChoice frames = FrameChoice::all);

// Enters what a tree of the window covers.
void set_span(const Model&, const Window&, FlameTree&);

// The name that a view shows for a node, raw: "all", a label, or a function.
std::string_view node_name(const Model&, const FlameTree&, const FlameNode&);

// The functions of a stack that are shown, root first, inlined ones included.
void expand_stack(const SymbolTables&, StackId, std::vector<FunctionId>& out,
                  FrameChoice frames = FrameChoice::all);

struct FunctionSums {
    FunctionId function;
    ClassSums self;
    ClassSums total; // once a sample, however often the function is on its stack
};

// Every function that is on a stack, unordered. The time of frames that are not shown is their
// nearest shown caller's own.
std::vector<FunctionSums> sum_functions(const Model&, const Window&, const ClassFilter& filter = {},
                                        FrameChoice frames = FrameChoice::all);

} // namespace auger
