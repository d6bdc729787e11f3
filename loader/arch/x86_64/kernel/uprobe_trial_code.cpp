// SPDX-License-Identifier: GPL-3.0-or-later
// Machine code that probes are tried on.

// A caller, the function that it calls, and the place in it that is probed. The frame pointers are
// what the kernel walks. Both probed instructions are ones that it emulates.
asm(R"(
    .pushsection .text
    .globl auger_trial_caller, auger_trial_return, auger_trial_function, auger_trial_place
    .type auger_trial_caller, @function
auger_trial_caller:
    push %rbp
    mov %rsp, %rbp
    call auger_trial_function
auger_trial_return:
    pop %rbp
    ret
    .size auger_trial_caller, . - auger_trial_caller
    .type auger_trial_function, @function
auger_trial_function:
    push %rbp
    mov %rsp, %rbp
auger_trial_place:
    nop
    pop %rbp
    ret
    .size auger_trial_function, . - auger_trial_function
    .popsection
)");
