// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions by the way to their last instruction, which decides where the end of a call can be seen
// and what that costs. All return 3 * a + b.
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

    .macro result
    lea (%rdi,%rdi,2), %rax
    add %rsi, %rax
    .endm

// Saves rbx and takes 32 bytes, and gives them back.
    .macro open_frame
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    sub $32, %rsp
    .cfi_adjust_cfa_offset 32
    .endm

    .macro close_frame
    add $32, %rsp
    pop %rbx
    .endm

    .text

    function helper
    result
    ret
    end helper

// As the stack protector's check: only one way goes on to the ret.
    function leaves_guarded
    open_frame
    mov %rdi, 8(%rsp)
    result
    cmp %rdi, 8(%rsp)
    jne 1f
    close_frame
    ret
1:  ud2
    end leaves_guarded

// Both ways of the jump lead to a ret, by another number of instructions.
    function leaves_either_way
    open_frame
    result
    test $1, %dil
    je 1f
    close_frame
    ret
1:  mov %rdi, %rcx // LAST LINE
    close_frame
    ret
    end leaves_either_way

// Three jumps to one epilogue, one of which always jumps.
    function leaves_joined
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $48, %rsp
    result
    test $1, %dil
    je 2f
    test $2, %dil
    jne 2f
    test $4, %dil
    je 1f
    movq $1, -8(%rbp)
    jmp 2f
1:  movq $2, -8(%rbp)
    nop
    mov -8(%rbp), %rcx
2:  leave
    ret
    end leaves_joined

// The stack pointer is not told by the code: it goes by what is asked for.
    function leaves_by_frame
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    push %rbx
    sub $8, %rsp
    mov %rdi, %rcx
    and $0xf0, %ecx
    sub %rcx, %rsp
    result
    cmp $-1, %rdi
    je 1f
    lea -8(%rbp), %rsp
    pop %rbx
    pop %rbp
    ret
1:  ud2
    end leaves_by_frame

// A probe on the loop's jump would be hit at each turn.
    function leaves_a_loop
    open_frame
    result
    mov $40, %ecx
1:  dec %ecx
    jne 1b
    close_frame
    ret
    end leaves_a_loop

// Nothing cheap comes between the call and the ret.
    function leaves_after_a_call
    open_frame
    call helper
    close_frame
    ret
    end leaves_after_a_call

// Most calls go by the jump; the others come back from a call.
    function leaves_half_after_a_call
    open_frame
    result
    test $3, %dil
    jne 1f
    call helper
    mov %rdi, %rcx
1:  close_frame
    ret
    end leaves_half_after_a_call

// The jump by which they leave early is where their entry is probed.
    function leaves_at_the_entry
    test $7, %dil
    je 1f
    open_frame
    cmp $-1, %rdi
    je 2f
    close_frame
1:  result
    ret
2:  ud2
    end leaves_at_the_entry

// Both ways of the jump lead out: one to another function.
    function leaves_to_another
    result
    test $1, %dil
    jne helper
    ret
    end leaves_to_another

// Nobody comes through what lies between the two ways.
    function leaves_behind_padding
    open_frame
    result
    test $1, %dil
    jne 1f
    close_frame
    ret
    .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
1:  close_frame
    ret
    end leaves_behind_padding

// What comes after the jump takes as long as it has been told to.
    function leaves_after_a_string
    open_frame
    result
    mov %rdi, %r8
    mov %rax, %r9
    cmp $-1, %rdi
    je 1f
    mov %rsp, %rdi
    mov $32, %ecx
    xor %eax, %eax
    rep stosb
    mov %r8, %rdi
    mov %r9, %rax
    close_frame
    ret
1:  ud2
    end leaves_after_a_string

// Through a table, which also leads into the last instructions.
    function leaves_through_a_table
    open_frame
    result
    mov %edi, %ecx
    and $1, %ecx
    lea table(%rip), %rdx
    movslq (%rdx,%rcx,4), %rcx
    add %rdx, %rcx
    cmp $-1, %rdi
    je 1f
    notrack jmp *%rcx
first:
    cmp $-2, %rdi
    je 1f
    xor %ecx, %ecx
second:
    close_frame
    ret
1:  ud2
    end leaves_through_a_table

// A computed goto, which nothing tells from a tail call.
    function leaves_by_a_pointer
    open_frame
    result
    lea inner(%rip), %rcx
    test $1, %dil
    je 1f
    mov %rcx, 8(%rsp)
    mov 8(%rsp), %rcx
    jmp *%rcx
1:  cmp $-1, %rdi
    je 2f
    xor %ecx, %ecx
inner:
    close_frame
    ret
2:  ud2
    end leaves_by_a_pointer

// Calls itself once more when bit 3 of `a` is set.
    function leaves_again
    open_frame
    test $8, %dil
    je 1f
    xor $8, %rdi
    xor $8, %rsi
    call leaves_again
    xor $8, %rdi
    xor $8, %rsi
1:  result
    cmp $-1, %rdi
    je 2f
    close_frame
    ret
2:  ud2
    end leaves_again

    .section .rodata
    .p2align 2
table:
    .long first - table, second - table

    .section .note.GNU-stack, "", @progbits
