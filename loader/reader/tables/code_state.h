// SPDX-License-Identifier: GPL-3.0-or-later
// Where a function stands before one of its instructions: how far the stack pointer and the frame
// pointer are from the CFA, and where the caller's rbx and rbp are.
#pragma once

#include "loader/reader/code/stack_effect.h"
#include "loader/reader/tables/frame_state.h"

namespace auger {

struct CodeState {
    bool stack_known = true;
    bool frame_known = false; // rbp is a frame pointer
    bool outermost = false;
    int64_t stack = 8; // CFA - rsp
    int64_t frame = 0; // CFA - rbp
    RegisterRule rbx, rbp;

    wire_unwind_rule rule() const;
    void apply(const StackEffect& effect);
    // Nothing was saved or pushed yet, or all is given back.
    bool as_at_begin() const {
        return stack_known && stack == 8 && !outermost && rbx.kind == RegisterRule::Kind::same &&
               rbp.kind == RegisterRule::Kind::same;
    }

  private:
    RegisterRule* rule_of(StackEffect::Register name);
    void save(StackEffect::Register name, int64_t below_cfa);
    void restore(StackEffect::Register name, int64_t below_cfa);
    void overwrite(const StackEffect& effect);
};

} // namespace auger
