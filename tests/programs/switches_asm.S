# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ways to leave one stack for another, as they are written by hand. One is assembled into a
# program: void switch_stack(struct context* from, struct context* to). The stack pointer is the
# first word of a context; SWITCH_JUMP also keeps where to go on, and registers, behind it. All
# without call frame information, as most of them are.
    .text
    .globl switch_stack
    .type switch_stack, @function
    .p2align 4
switch_stack:
#if !defined(SWITCH_JUMP)
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
#endif
#if defined(SWITCH_MOV)
    movq (%rsi), %rsi
    movq %rsp, (%rdi)
    movq %rsi, %rsp
#elif defined(SWITCH_XCHG)
    movq (%rsi), %rax
    xchgq %rax, %rsp
    movq %rax, (%rdi)
#elif defined(SWITCH_POP)
    movq %rsp, (%rdi)
    pushq (%rsi)
    popq %rsp
#elif defined(SWITCH_LOAD)
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
#elif defined(SWITCH_LEA)
    movq %rsp, (%rdi)
    movq (%rsi), %rcx
    leaq (%rcx), %rsp
#elif defined(SWITCH_ADD)
    movq %rsp, (%rdi)
    movq (%rsi), %rcx
    subq %rsp, %rcx
    addq %rcx, %rsp
#elif defined(SWITCH_FRAME)
    # By the frame pointer, as some do to have it restored as well.
    movq %rsp, (%rdi)
    movq (%rsi), %rbp
    movq %rbp, %rsp
#elif defined(SWITCH_JUMP)
    # As setjmp and longjmp do, in one: minicoro and many others.
    leaq 1f(%rip), %rax
    movq %rsp, 0(%rdi)
    movq %rax, 8(%rdi)
    movq %rbx, 16(%rdi)
    movq %rbp, 24(%rdi)
    movq %r12, 32(%rdi)
    movq %r13, 40(%rdi)
    movq %r14, 48(%rdi)
    movq %r15, 56(%rdi)
    movq 56(%rsi), %r15
    movq 48(%rsi), %r14
    movq 40(%rsi), %r13
    movq 32(%rsi), %r12
    movq 24(%rsi), %rbp
    movq 16(%rsi), %rbx
    movq 0(%rsi), %rsp
    jmpq *8(%rsi)
1:  ret
#else
#error "no way to switch"
#endif
#if !defined(SWITCH_JUMP)
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
#endif
    .size switch_stack, . - switch_stack

    .section .note.GNU-stack,"",@progbits
