// SPDX-License-Identifier: GPL-3.0-or-later
// What calls of one class do that those of another do not, per call. Slow calls have more samples
// just by being longer, so weights are divided by the number of calls, those without any sample
// included. By duration alone, or by branch alone, that number is counted in the kernel; otherwise
// it is estimated (see call_estimate.h). Samples of one call are not independent, so what is sure
// is told by calls, not by samples: margins come from the variance between calls, and what is
// significant from a permutation test of their sums (permutation_test.h), which takes ten slow
// calls that all show what no fast one does for what they are.
#pragma once

#include "loader/base/result.h"
#include "views/model/fold.h"

#include <memory>

namespace auger {

struct DiffSide {
    ClassFilter filter;
    double calls = 0;         // of the class in the window, sampled or not
    bool estimated = false;   // `calls` is
    double sampled_calls = 0; // that hold at least one sample
    SampleSum samples;
    double per_call_ns = 0; // weight of samples per call
};

// Differences are first side minus second side, in ns of sample weight per call.
struct DiffEntry {
    double first_ns = 0; // per call
    double second_ns = 0;
    double difference_ns = 0;
    double margin_ns = 0;       // half of the 95 % confidence interval; infinite with too few calls
    double p_value = 1;         // two-sided, of the permutation test
    bool testable = false;      // enough calls have a sample here to make it significant at all
    bool significant = false;   // at a false discovery rate of 5 % over all testable of its list
    uint64_t sampled_calls = 0; // calls of either side with a sample here
    // How many more calls of the class that has fewer would make it significant if they went on
    // alike, about; 0: it is, or nothing speaks for a difference.
    uint64_t calls_needed = 0;
};

struct FunctionDiff : DiffEntry {
    FunctionId function;
    double self_difference_ns = 0;
    // What is left of the difference without that of the callee that accounts for most of it: what
    // ranks the list.
    double rest_difference_ns = 0;
    bool by_split = false; // the split's own function: slow and fast differ in it by definition

    bool sure() const { return significant || by_split; }
    // It may be chance, but something speaks for it.
    bool candidate() const { return !sure() && calls_needed > 0; }
};

struct StackDiff : DiffEntry {
    std::vector<FunctionId> path; // root first, from the split's function on
};

struct Diff {
    DiffSide first;
    DiffSide second;
    std::vector<FunctionDiff> functions; // from the split's function inwards; largest rest first
    size_t tested_functions = 0;         // that could be significant
    std::vector<StackDiff> stacks;       // largest difference first
    SampleSum probe_handling; // left out: the kernel at work for a probe, in calls of either side
    bool recursive = false;   // calls of the probe inside each other: counted each, sampled as one
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
};

// Fails without a split, for `outside` or `open` (neither has a number of calls), for classes that
// a call can be in both of, for parts that the split does not have, and while the threshold is
// warming up. Under an ewma window the samples do not fade: everything kept counts.
// The time of frames that are not shown is in the nearest one that is.
Result<Diff> diff_classes(const Model&, const Window&, const ClassFilter& first,
                          const ClassFilter& second, FrameChoice frames = FrameChoice::all);

// The same in steps, for whoever must not hold up a screen.
class DiffPass {
  public:
    static Result<DiffPass> begin(const Model&, const Window&, const ClassFilter& first,
                                  const ClassFilter& second, bool with_stacks,
                                  FrameChoice frames = FrameChoice::all);
    ~DiffPass();
    DiffPass(DiffPass&&) noexcept;
    DiffPass& operator=(DiffPass&&) noexcept;

    // Takes about as long as looking at so many samples does; returns whether something is left.
    bool work(size_t samples);
    double progress() const; // 0 to 1, about
    // When nothing is left.
    Diff take();

  private:
    class Comparison;
    explicit DiffPass(std::unique_ptr<Comparison>);
    std::unique_ptr<Comparison> comparison_;
};

} // namespace auger
