// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions by their first instruction, which decides what an entry probe costs and where it may
// sit. All return 3 * a + b. Leaf functions keep a value in the red zone below the stack pointer,
// which a probe must not touch.
    .macro function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

// A 5-byte nop, spelt out: assemblers choose lengths of their own.
    .macro nop5
    .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
    .endm

    .text

    function starts_push
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    mov %rdi, -8(%rbp)
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    pop %rbp
    .cfi_def_cfa %rsp, 8
    ret
    end starts_push

    function starts_endbr
    endbr64
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    pop %rbp
    .cfi_def_cfa %rsp, 8
    ret
    end starts_endbr

    function starts_sub
    sub $24, %rsp
    .cfi_adjust_cfa_offset 24
    mov %rdi, 8(%rsp)
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    add $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    end starts_sub

    function starts_nop5
    nop5
    mov %rdi, -8(%rsp)
    lea (%rsi), %rax
    add -8(%rsp), %rax
    add -8(%rsp), %rax
    add -8(%rsp), %rax
    ret
    end starts_nop5

    function starts_mov
    mov %rdi, -16(%rsp)
    mov %rsi, %rax
    add -16(%rsp), %rax
    add -16(%rsp), %rax
    add -16(%rsp), %rax
    ret
    end starts_mov

// As -fcf-protection with -fpatchable-function-entry makes it.
    function starts_endbr_nop5
    endbr64
    nop5
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    ret
    end starts_endbr_nop5

// The trap for a walk along the prologue: by the time of the nop, the red zone is in use.
    function inner_nop5
    mov %rdi, -8(%rsp)
    mov %rdi, -16(%rsp)
    mov %rdi, -24(%rsp)
    nop5
    mov %rsi, %rax
    add -8(%rsp), %rax
    add -16(%rsp), %rax
    add -24(%rsp), %rax
    ret
    end inner_nop5

// Another: the cheap instruction is the target of a branch, and runs three times in each call.
    function loops_to_nop
    mov %rsi, %rax
    mov $3, %ecx
1:  nop
    add %rdi, %rax
    dec %ecx
    jnz 1b
    ret
    end loops_to_nop

// Another: the stack pointer has moved by the time of the push.
    function pushes_late
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    lea (%rdi,%rdi,2), %rax
    push %rbx
    .cfi_adjust_cfa_offset 8
    add %rsi, %rax
    pop %rbx
    .cfi_adjust_cfa_offset -8
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    end pushes_late

// Two ways out.
    function returns_twice
    push %rbx
    .cfi_adjust_cfa_offset 8
    test $1, %dil
    je 1f
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    pop %rbx
    .cfi_adjust_cfa_offset -8
    ret
1:  .cfi_adjust_cfa_offset 8
    lea (%rsi,%rdi,2), %rax
    add %rdi, %rax
    pop %rbx
    .cfi_adjust_cfa_offset -8
    ret
    end returns_twice

# What the kernel would do wrongly under a probe: an exchange is taken for a nop, and vector
# instructions for a jump and a return, by their opcodes 76, 7e and c2.
    function starts_xchg
    xchg %r8, %rax
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    ret
    end starts_xchg

    function starts_vpcmpeq
    vpcmpeqd %xmm0, %xmm0, %xmm0
    vmovq %xmm0, %rax
    lea 1(%rax,%rdi,2), %rax
    add %rdi, %rax
    add %rsi, %rax
    ret
    end starts_vpcmpeq

    function starts_vcmp
    vcmpeqps %xmm0, %xmm0, %xmm1
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    ret
    end starts_vcmp

    .section .note.GNU-stack, "", @progbits
