// SPDX-License-Identifier: GPL-3.0-or-later
// register_writes: what one instruction does to the general registers, as far as it matters
// for whether a function stays on its own stack.
#pragma once

#include "loader/reader/code/decoder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace auger {

// Registers are numbered as in machine code.
constexpr uint8_t number_rax = 0, number_rsp = 4, number_rbp = 5;
using RegisterSet = uint16_t; // a bit a register

struct RegisterWrites {
    enum class Stack : uint8_t {
        untouched,
        moved,  // by an amount that the instruction itself says, or to an alignment
        copied, // from `source`, plus a constant
        other,  // anything else: another register with unknown content, memory, an amount not known
    };

    uint8_t length; // bytes
    Instruction::Flow flow;
    bool indirect;   // a jump or call whose target the instruction does not say
    uint64_t target; // of a direct jump or call; else 0
    Stack stack = Stack::untouched;
    uint8_t source = 0; // of Stack::copied
    RegisterSet written = 0;
    // `copy_to` gets the value of `copy_from`, plus a constant. A register that an amount is added
    // to is its own copy.
    bool copies = false;
    uint8_t copy_from = 0, copy_to = 0;
    bool system_call = false;    // `syscall`: eax says which
    bool other_gate = false;     // int, sysenter: the kernel is entered in another way
    std::optional<uint32_t> eax; // what it puts there, where the instruction says it
};

// Nothing when the bytes are no complete valid instruction.
std::optional<RegisterWrites> register_writes(std::span<const std::byte> bytes, uint64_t address);

// The same instruction at a fraction of the cost: how it goes on, and whether register_writes()
// could have more to tell of the stack pointer, or of system calls, than that it is moved.
struct InstructionGlance {
    uint8_t length;
    bool suspicious;
    uint64_t target; // of a direct jump; else 0
};
std::optional<InstructionGlance> glance_at(std::span<const std::byte> bytes, uint64_t address);

} // namespace auger
