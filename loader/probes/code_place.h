// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of single instructions that are probed. Plain data, found by who reads the code
// (loader/reader/code).
#pragma once

#include <cstdint>

namespace auger {

// What a probe on an instruction costs, by what the kernel does with the instruction it replaced.
enum class ProbeCost : uint8_t {
    optimised,      // a 5-byte nop: becomes a call on Linux >= 6.18, emulated or stepped before
    emulated,       // push, nop, jmp, jcc, call: no second trap
    single_stepped, // everything else: about twenty times as dear
    refused,        // the kernel does not take a probe here, or it would do harm
};

// A condition is the low four bits of a jcc's opcode, 0 (overflow) to 15 (greater).
inline constexpr uint8_t no_condition = 16;

// CodeExit::frame_distance is no larger.
inline constexpr uint32_t most_frame_distance = 0x7fff * 8;

// Registers have the decoder's numbers; equal ones are the same 64-bit register.
inline constexpr uint8_t no_register = 0;

// Where an instruction finds the address that it calls. Registers are numbered as Instruction has
// them.
struct CallOperand {
    bool memory;   // it is stored at base + index * scale + displacement
    uint8_t base;  // or the register that holds it; in memory 0: `displacement` is as linked
    uint8_t index; // 0: none
    uint8_t scale;
    uint64_t displacement;
};

enum class ExitKind : uint8_t {
    ret,  // or, `early`, an instruction behind which only a ret can come
    jump, // a tail call: the call ends here, its callee returns to the caller
};

// At each exit the stack pointer, or `frame_distance` above it, equals that at the function's first
// instruction, provided that the instruction really leaves: the kernel side checks it and ignores
// an exit where it differs (an indirect jump that stays inside, a conditional jump to code without
// a symbol).
struct CodeExit {
    uint64_t address; // of the instruction, as linked
    ExitKind kind;
    bool conditional; // a jcc that may also fall through: see `condition`
    bool indirect;    // target not known from the code
    bool to_itself;   // jumps to the function's own first byte
    ProbeCost cost;
    uint64_t target; // of a direct jump; else 0
    // Of a jcc. A probe on it fires whether it jumps or not: the call ends only when the condition
    // holds for the flags of that moment. `early` it may be the opposite of the jump's own.
    uint8_t condition;
    // A few instructions before the `ret`: see loader/reader/code/cheap_exits.h.
    bool early = false;
    // Bytes from the stack pointer, or the frame pointer, to where the return address lies: a
    // multiple of 8.
    uint32_t frame_distance = 0;
    bool from_frame_pointer = false;
};

} // namespace auger
