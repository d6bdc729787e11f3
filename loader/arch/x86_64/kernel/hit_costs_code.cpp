// SPDX-License-Identifier: GPL-3.0-or-later
// Machine code by which the cost of probes is measured.

#include <cstdint>

// Functions that differ in the instructions at which they are entered and left: two that the
// kernel emulates; two that it executes elsewhere in a single step; a 5-byte nop, which newer
// kernels turn into a call, and an emulated one; once more the first, for return probes; and one
// whose exit is a conditional jump that does not jump. At their `_exit` the stack pointer is back
// at the return address.
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
    auger_hit_function passed_jump, "je . + 2", test %rsp, %rsp
    .popsection
)");

extern "C" const uint8_t auger_hit_passed_jump_condition;
const uint8_t auger_hit_passed_jump_condition = 4; // equal
