// SPDX-License-Identifier: GPL-3.0-or-later
//
// See goroutine.c. The functions are Go's (1.19) as far as stacks are concerned.
    .text
    .globl enter_goroutine
enter_goroutine:
    mov %rdi, %rsp
    xor %ebp, %ebp
    lea after_goexit(%rip), %rax
    push %rax
    jmp main_work

    .balign 16
go_text:
goexit:
    nop
after_goexit:
    ud2

    .balign 16
main_work:
    sub $24, %rsp
main_work_framed:
    mov %rbp, 16(%rsp)
    lea 16(%rsp), %rbp
1:  lea closure(%rip), %rax
    mov %rax, (%rsp)
    call systemstack
    jmp 1b

    .balign 16
systemstack:
    mov 8(%rsp), %rdi
    mov %fs:current_goroutine@tpoff, %rax
    mov 0x30(%rax), %rbx
    mov (%rbx), %rdx
    call save_stack
    mov %rdx, %fs:current_goroutine@tpoff
    mov 0x38(%rdx), %rbx
    mov %rbx, %rsp
    mov %rdi, %rdx
    mov (%rdi), %rdi
    call *%rdi
    mov %fs:current_goroutine@tpoff, %rax
    mov 0x30(%rax), %rbx
    mov 0xc0(%rbx), %rax
    mov %rax, %fs:current_goroutine@tpoff
    mov 0x38(%rax), %rsp
    movq $0, 0x38(%rax)
    ret

    .balign 16
save_stack:
    lea 8(%rsp), %rcx
    mov %rcx, 0x38(%rax)
    ret
    .balign 16
go_text_end:

    .data
    .balign 8
closure:
    .quad work_for_goroutine

    .section .go.buildinfo, "a", @progbits
    .quad 0

/* As of Go 1.18: a header, names, programs of stack depths, functions. */
#ifdef __PIE__
    .section .data.rel.ro.gopclntab, "aw", @progbits
#else
    .section .gopclntab, "a", @progbits
#endif
    .balign 8
table:
    .long 0xfffffff0
    .byte 0, 0, 1, 8
    .quad 4, 0, go_text, names - table, 0, 0, programs - table, functions - table
names:
    .byte 0
goexit_name:
    .asciz "runtime.goexit"
main_work_name:
    .asciz "main.work"
systemstack_name:
    .asciz "runtime.systemstack"
save_stack_name:
    .asciz "gosave_systemstack_switch"
/* From -1: differences, signed in the lowest bit, and how many bytes of code they are for. */
programs:
    .byte 0
no_depth:
    .byte 2, 127, 0
main_work_depth:
    .byte 2, main_work_framed - main_work, 48, systemstack - main_work_framed, 0
functions:
    .long goexit - go_text, goexit_description - functions
    .long main_work - go_text, main_work_description - functions
    .long systemstack - go_text, systemstack_description - functions
    .long save_stack - go_text, save_stack_description - functions
    .long go_text_end - go_text
.macro description name depth flags
\name\()_description:
    .long \name - go_text, \name\()_name - names, 0, 0, \depth - programs, 0, 0, 0, 0
    .byte 0, \flags, 0, 0
.endm
    description goexit no_depth 1
    description main_work main_work_depth 0
    description systemstack no_depth 2
    description save_stack no_depth 0

    .section .note.GNU-stack, "", @progbits
