# SPDX-License-Identifier: GPL-3.0-or-later
    .text
    .globl looks_up
    .type looks_up, @function
    .p2align 4
looks_up:                       # no .size
    push %rbp
    leaq constants(%rip), %rax
    movq (%rax,%rdi,8), %rax
    pop %rbp
    ret
constants:                      # push; pop; ret; nop; push; pop; nop; ret: it decodes
    .quad 0xc3905d5590c35d55
    .quad 0xc3c3c3c3c3c3c3c3
    .quad 0xc3905d5590c35d55
    .quad 0xc3c3c3c3c3c3c3c3

    .globl jumps_over_data
    .type jumps_over_data, @function
    .p2align 4
jumps_over_data:
    push %rbp
    movq 1f(%rip), %rax
    jmp 2f
1:  .quad 0xc3905d5590c35d55
2:  xorq %rdi, %rax
    pop %rbp
    ret

    .section .note.GNU-stack,"",@progbits
