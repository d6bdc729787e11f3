// SPDX-License-Identifier: GPL-3.0-or-later
// Machine code by which the cost of probes is measured.

// Four functions that differ in the instruction that they begin with: one that the kernel emulates,
// one that it executes elsewhere in a single step, a 5-byte nop, which newer kernels turn into a
// call; and one more of the first kind, for return probes. All leave by `ret`, which is stepped.
asm(R"(
    .pushsection .text
    .macro auger_hit_function name, first:vararg
    .globl auger_hit_\name, auger_hit_\name\()_exit
    .type auger_hit_\name, @function
    .balign 16
auger_hit_\name:
    \first
    push %rbp
    pop %rbp
auger_hit_\name\()_exit:
    ret
    .size auger_hit_\name, . - auger_hit_\name
    .endm
    auger_hit_function emulated, nop
    auger_hit_function stepped, mov %rdi, %rax
    auger_hit_function optimised, .byte 0x0f, 0x1f, 0x44, 0, 0
    auger_hit_function returns, nop
    .popsection
)");
