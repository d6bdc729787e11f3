// SPDX-License-Identifier: GPL-3.0-or-later
// Machine code by which the cost of probes is measured.

#include <cstddef>
#include <cstdint>

// Four functions that differ in the instructions at which they are entered and left: two that the
// kernel emulates; two that it executes elsewhere in a single step; a 5-byte nop, which newer
// kernels turn into a call, and an emulated one; and once more the first, for return probes. At
// their `_exit` the stack pointer is back at the return address. And one with several conditional
// jumps, one behind the other, that do not jump.
asm(R"(
    .pushsection .text
    .macro auger_hit_function name, last, first:vararg
    .globl auger_hit_\name, auger_hit_\name\()_exit
    .type auger_hit_\name, @function
    .balign 16
auger_hit_\name:
    \first
    push %rbp
    pop %rbp
auger_hit_\name\()_exit:
    \last
    ret
    .size auger_hit_\name, . - auger_hit_\name
    .endm
    auger_hit_function emulated, nop, nop
    auger_hit_function stepped, cld, cld
    auger_hit_function optimised, nop, .byte 0x0f, 0x1f, 0x44, 0, 0
    auger_hit_function returns, nop, nop

    .globl auger_hit_jumps, auger_hit_first_jump
    .type auger_hit_jumps, @function
    .balign 16
auger_hit_jumps:
    test %rsp, %rsp
auger_hit_first_jump:
    .rept 5
    je . + 2
    .endr
    ret
    .size auger_hit_jumps, . - auger_hit_jumps
    .popsection
)");

extern "C" const size_t auger_hit_jump_bytes;
const size_t auger_hit_jump_bytes = 2;
extern "C" const uint8_t auger_hit_jump_condition;
const uint8_t auger_hit_jump_condition = 4; // equal
