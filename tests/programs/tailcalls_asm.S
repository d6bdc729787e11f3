// SPDX-License-Identifier: GPL-3.0-or-later
//
// See tailcalls.c.
    .text

    .globl conditional
    .type conditional, @function
conditional:
    .cfi_startproc
    test $1, %dil
    jne third
    lea (%rdi,%rdi), %rax
    ret
    .cfi_endproc
    .size conditional, . - conditional

    .globl self_tail
    .type self_tail, @function
self_tail:
    .cfi_startproc
    test %rdi, %rdi
    je 1f
    dec %rdi
    add $2, %rsi
    jmp self_tail
1:  mov %rsi, %rax
    ret
    .cfi_endproc
    .size self_tail, . - self_tail

    .section .note.GNU-stack, "", @progbits
