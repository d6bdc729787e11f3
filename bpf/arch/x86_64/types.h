/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Of kernel_types.h alone: what the kernel's types have of x86-64, and how CPUs order memory. */
#ifndef AUGER_ARCH_TYPES_H
#define AUGER_ARCH_TYPES_H

/*
 * Between CPUs. load_acquire(): nothing behind it is read before; store_release(): nothing before
 * it is written later. x86 does neither by itself, so the compiler is all that has to be told.
 * (BPF has instructions for others from Linux 6.15 on only.)
 */
#define load_acquire(place)                                                                        \
    ({                                                                                             \
        __typeof__(*(place)) loaded_ = *(volatile __typeof__(*(place))*)(place);                   \
        barrier();                                                                                 \
        loaded_;                                                                                   \
    })
#define store_release(place, value)                                                                \
    do {                                                                                           \
        barrier();                                                                                 \
        *(volatile __typeof__(*(place))*)(place) = (value);                                        \
    } while (0)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
    unsigned long fsbase;
};

/* The registers that a task had in user mode; "___kernel": the UAPI's pt_regs names them otherwise.
 */
struct pt_regs___kernel {
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
    unsigned long ip, cs, sp;
    unsigned long orig_ax; /* the system call's number; negative for interrupts and faults */
};

#pragma clang attribute pop

/* Of a task_struct: the address of the thread's own memory, in user mode. */
#define THREAD_POINTER thread.fsbase
/* From there: where glibc has the thread's vector of blocks of thread-local variables. */
#define THREAD_VECTOR 8
/* Where it has what the thread keeps under its keys (pthread_getspecific()), two words for each:
 * the first block of them, and the addresses of all blocks. */
#define THREAD_KEYS 0x310
#define THREAD_KEY_BLOCKS 0x510
#define THREAD_KEYS_OF_BLOCK 32

#endif
