// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a stack that was copied, by the rules that the kernel side walks by (bpf/unwind.bpf.c): for
// stacks whose rules were not there when they were sampled.
#pragma once

#include "bpf/unwind_table.h"

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

// Memory at [start, start + bytes.size()).
struct StackPiece {
    uint64_t start = 0;
    std::span<const std::byte> bytes;

    std::optional<uint64_t> word(uint64_t address) const;
};

struct RuleAnswer {
    wire_unwind_stop stop = WIRE_STOP_NO_MAPPING; // WIRE_STOPS: there is a rule
    wire_unwind_rule rule = {};
};
// The rule at an address of code.
using FindRule = std::function<RuleAnswer(uint64_t code)>;

// Appends the callers of `frame`, as the kernel side writes frames (WIRE_FRAME_EXACT), until there
// are `most` of them in all. Returns why it ended; WIRE_STOP_END: the stack is whole.
wire_unwind_stop walk_copied_stack(StackFrame frame, const StackPiece& stack, const FindRule& find,
                                   size_t most, std::vector<uint64_t>& frames);

} // namespace auger
