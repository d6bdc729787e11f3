// SPDX-License-Identifier: GPL-3.0-or-later
// Sums by function, found in steps: of all functions, or of those that call one or are called by
// it.
#pragma once

#include "views/model/fold.h"
#include "views/model/sample_pass.h"

#include <optional>

namespace auger {

struct FunctionFocus {
    enum class Kind : uint8_t { callers, callees };
    FunctionId function;
    Kind kind = Kind::callers;
    friend bool operator==(const FunctionFocus&, const FunctionFocus&) = default;
};

class FunctionPass {
  public:
    // The time of frames that are not shown is their nearest shown caller's own.
    FunctionPass(const Model&, const Window&, const ClassFilter&,
                 std::optional<FunctionFocus> focus = {}, FrameChoice frames = FrameChoice::all);

    // Looks at some samples or stacks; returns whether something is left to do.
    bool work(size_t samples);

    // Unordered. With a focus: direct callers (callees) of it, whose total is the time inside of
    // such a call, and self the part of it in which the called function itself ran.
    const std::vector<FunctionSums>& functions() const { return present_; }
    // Of everything; with a focus, of the function itself.
    const ClassSums& whole() const { return whole_; }
    // With a focus on callers: where the function has none; on callees: where it ran itself.
    const ClassSums& none() const { return none_; }

  private:
    bool expand(size_t stacks);
    void add(FunctionId, const ClassSums&, bool self);
    void add_neighbours(const ClassSums&);
    void finish();

    const Model& model_;
    std::optional<FunctionFocus> focus_;
    FrameChoice frames_; // beside the focus
    SamplePass pass_;
    std::vector<ClassSums> by_stack_;
    std::vector<FunctionSums> sums_; // by function
    std::vector<uint32_t> seen_;     // by function: in which stack last
    std::vector<FunctionId> path_;
    std::vector<FunctionSums> present_;
    ClassSums whole_;
    ClassSums none_;
    bool all_sampled_ = false;
    uint32_t next_stack_ = 0;
};

} // namespace auger
