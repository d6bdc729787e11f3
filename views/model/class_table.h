// SPDX-License-Identifier: GPL-3.0-or-later
// How samples and calls spread over everything that a split tells apart: duration, branch, value.
#pragma once

#include "views/model/classifier.h"

#include <vector>

namespace auger {

struct CombinedClass {
    CallClass duration = CallClass::open;
    std::optional<bool> taken;
    LabelId label = no_label;
    SampleSum samples;
    uint64_t calls = 0; // that hold a sample of it
    // Of these, the ones that no other class counts here (by so-far a call is fast, then slow).
    uint64_t distinct_calls = 0;
};

struct ClassTable {
    ClassSums by_duration;
    std::vector<CombinedClass> combined; // of samples inside calls of the split's probe; in order
    SampleSum left_out;                  // that `only` does not keep; in nothing above
};

ClassTable tabulate_classes(const Model&, const Classifier&, const Window&);

// One class of some of the parts, with the others summed up.
struct ClassRow {
    ClassFilter filter; // with labels as they are, raw
    SampleSum samples;
    uint64_t calls = 0;
};
// By duration (where there is a threshold) and branch. Only rows that hold a sample.
std::vector<ClassRow> branch_rows(const Model&, const ClassTable&);
// By value; the ones with the most weight first.
std::vector<ClassRow> label_rows(const Model&, const ClassTable&);
// Samples in calls of which the branch (the value) is not known.
SampleSum unknown_branch(const ClassTable&);
SampleSum unknown_label(const ClassTable&);

} // namespace auger
