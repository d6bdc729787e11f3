// SPDX-License-Identifier: GPL-3.0-or-later
// Walks stacks that were copied by the rules that the kernel side walks by (bpf/unwind.bpf.c):
// those of samples, since their rules were not there when they were taken, and of goroutines.
#pragma once

#include "bpf/unwind_table.h"
#include "loader/base/memory.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace auger {

// Registers of a frame.
struct StackFrame {
    uint64_t ip = 0;
    uint64_t sp = 0;
    uint64_t bp = 0;
    uint64_t bx = 0;
    uint32_t bx_state = WIRE_RBX_LOST; // wire_rbx_state
    bool exact = false;                // ip is the next instruction, not a return address
};

// A stack, or a part of one: [start, start + bytes.size()).
class StackPiece final : public Memory {
  public:
    StackPiece(uint64_t start, std::span<const std::byte> bytes) : start_(start), bytes_(bytes) {}

    std::optional<uint64_t> word(uint64_t address) override;

  private:
    uint64_t start_;
    std::span<const std::byte> bytes_;
};

struct RuleAnswer {
    wire_unwind_stop stop = WIRE_STOP_NO_MAPPING; // WIRE_STOPS: there is a rule
    wire_unwind_rule rule = {};
};
// The rule at an address of code.
using FindRule = std::function<RuleAnswer(uint64_t code)>;

// Appends the callers of `frame`, as the kernel side writes frames (WIRE_FRAME_EXACT), until there
// are `most` of them in all. Returns why it ended; WIRE_STOP_END: the stack is whole.
// Nothing but this stack can be read: in code without rules the walk ends. `begins`: where each of
// the frames appended begins, its stack pointer.
wire_unwind_stop walk_copied_stack(const StackFrame& frame, StackPiece stack, const FindRule& find,
                                   size_t most, std::vector<uint64_t>& frames,
                                   std::vector<uint64_t>* begins = nullptr);

// As the kernel side writes it: at most `most` frames (at least one), leaf first, and the word that
// says why it is cut, if it is (WIRE_STACK_CUT).
std::vector<uint64_t> read_stack(const StackFrame& leaf, StackPiece stack, const FindRule& find,
                                 size_t most);

} // namespace auger
