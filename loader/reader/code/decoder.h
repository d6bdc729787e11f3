// SPDX-License-Identifier: GPL-3.0-or-later
// decode: one instruction, reduced to what placing probes needs to know: where control goes
// next, whether the stack pointer moves, what the kernel's uprobes do with it, and the few data
// movements by which jump tables are recognised.
#pragma once

#include "loader/probes/code_place.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace auger {

struct Instruction {
    enum class Flow : uint8_t {
        next,        // goes on with the following instruction
        ret,         // near or far return
        jump,        // jmp
        conditional, // jcc, jrcxz, loop, xbegin
        call,
        stop, // ud2, int3, hlt: never goes on
        trap, // syscall, int N: the kernel may resume elsewhere
    };
    enum class Move : uint8_t { none, load, load_address, add, other_write };
    // Whether it surely neither faults, traps, waits nor takes long: see may_be_left_out().
    enum class Brief : uint8_t {
        no,
        by_frame_pointer, // if that points to the function's frame, where it has an operand
        yes,
    };

    uint64_t address;
    uint8_t length; // bytes, 1 to 15
    Flow flow;
    ProbeCost cost;
    bool moves_stack;     // writes the stack pointer (push, pop, sub rsp, leave, call ...)
    bool push;            // push of a register
    bool writes_argument; // a register that holds an integer argument at a function's entry
    bool writes_result;   // rax, in which results come back
    bool nop;             // does nothing, whatever its length
    bool nop5;            // a 5-byte nop, which the kernel may replace as a whole
    bool locked;          // its first byte is a lock prefix
    Brief brief;          // whether it may be left out of a call's time
    bool indirect;        // jump or call through a register or memory
    bool notrack;         // compilers write this prefix for jump tables only
    uint8_t condition;    // of a jcc, see code_place.h; no_condition for everything else
    uint64_t target;      // of a direct jump or call; else 0

    // The first register operand that it writes, or that an indirect jump goes through, and how it
    // gets its value. Ids are opaque; equal ids are the same 64-bit register.
    Move move;
    uint8_t written;
    // A memory operand: base + index * scale + displacement. An address relative to the instruction
    // pointer is resolved into `displacement` and has no base.
    bool memory;
    uint8_t base;
    uint8_t index;
    uint8_t scale;
    uint64_t displacement;
    // It lies in another segment (thread-local), or its registers count with 32 bits: more than the
    // above say.
    bool odd_memory;

    // A jump within code whose target may be known, conditional or not.
    bool is_branch() const { return flow == Flow::jump || flow == Flow::conditional; }
};

// Nothing when the bytes are no complete valid instruction.
std::optional<Instruction> decode(std::span<const std::byte> bytes, uint64_t address);

// The rule on what may lie between a call's begin and its entry's probe, or between its exit's
// probe and its end, and so is in no duration. Else it could be all that the call does (rep stos, a
// load of what lies on a disk), or the end of it: a handler of SIGSEGV or SIGFPE may jump out. So
// it is no instruction but plain moves and integer arithmetic, with no operands in memory but
//  - on the thread's own stack: through the stack pointer, or through the frame pointer, where
//    `in_frame` says that it is one;
//  - in the thread's head, where the stack protector's word is;
//  - at a fixed distance from the code: a constant, a slot of the GOT, a variable. That is of the
//    file, which is mapped as long as its code is; at most it is touched there for the first time,
//    or for the first time since a fork.
inline bool may_be_left_out(const Instruction& instruction, bool in_frame) {
    return instruction.brief == Instruction::Brief::yes ||
           (in_frame && instruction.brief == Instruction::Brief::by_frame_pointer);
}

// Whether a jump may lead to the address: to the first byte of one of the instructions (ascending),
// or behind its lock prefix, which the C library jumps over while the program has one thread.
bool may_land(std::span<const Instruction> code, uint64_t address);

} // namespace auger
