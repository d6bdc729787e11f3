// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// x86-64's registers: at a probe (`ctx`), and those that a thread in the kernel had in user mode
// (`regs`).
#ifndef AUGER_ARCH_REGISTERS_H
#define AUGER_ARCH_REGISTERS_H

#include "kernel_types.h"
#include "wire.h"

enum {
    USER_ADDRESS_BITS = 56, /* with five levels of page tables */
    COMPAT_CODE = 0x23,     /* the code segments of 32-bit programs, and of others */
    USER_CODE = 0x33,
    RED_ZONE = 128, /* bytes below the stack pointer that a function without a frame uses */
};

/* In the order of DWARF's numbers (System V AMD64 psABI, figure 3.36), less than WIRE_BASE_CFA's.
 */
static __always_inline void note_dwarf_registers(u64* registers, struct pt_regs* ctx) {
    registers[0] = ctx->rax;
    registers[1] = ctx->rdx;
    registers[2] = ctx->rcx;
    registers[3] = ctx->rbx;
    registers[4] = ctx->rsi;
    registers[5] = ctx->rdi;
    registers[6] = ctx->rbp;
    registers[7] = ctx->rsp;
    registers[8] = ctx->r8;
    registers[9] = ctx->r9;
    registers[10] = ctx->r10;
    registers[11] = ctx->r11;
    registers[12] = ctx->r12;
    registers[13] = ctx->r13;
    registers[14] = ctx->r14;
    registers[15] = ctx->r15;
    registers[16] = ctx->rip;
}

enum { STACK_POINTER = 7 }; /* in this order */

/* The same of a thread in the kernel: those that it had in user mode. */
static __always_inline void note_user_registers(u64* registers,
                                                const struct pt_regs___kernel* regs) {
    registers[0] = regs->ax;
    registers[1] = regs->dx;
    registers[2] = regs->cx;
    registers[3] = regs->bx;
    registers[4] = regs->si;
    registers[5] = regs->di;
    registers[6] = regs->bp;
    registers[STACK_POINTER] = regs->sp;
    registers[8] = regs->r8;
    registers[9] = regs->r9;
    registers[10] = regs->r10;
    registers[11] = regs->r11;
    registers[12] = regs->r12;
    registers[13] = regs->r13;
    registers[14] = regs->r14;
    registers[15] = regs->r15;
    registers[16] = regs->ip;
}

/* The opposite, for walks in user space. */
static __always_inline void take_user_registers(struct pt_regs___kernel* regs, const u64* registers,
                                                bool compat) {
    regs->ax = registers[0];
    regs->dx = registers[1];
    regs->cx = registers[2];
    regs->bx = registers[3];
    regs->si = registers[4];
    regs->di = registers[5];
    regs->bp = registers[6];
    regs->sp = registers[STACK_POINTER];
    regs->r8 = registers[8];
    regs->r9 = registers[9];
    regs->r10 = registers[10];
    regs->r11 = registers[11];
    regs->r12 = registers[12];
    regs->r13 = registers[13];
    regs->r14 = registers[14];
    regs->r15 = registers[15];
    regs->ip = registers[16];
    regs->cs = compat ? COMPAT_CODE : USER_CODE;
}

/* In the order of wire_operand_register. */
static __always_inline void note_operand_registers(u64* registers, struct pt_regs* ctx) {
    registers[1] = ctx->rax;
    registers[2] = ctx->rcx;
    registers[3] = ctx->rdx;
    registers[4] = ctx->rbx;
    registers[5] = ctx->rsp;
    registers[6] = ctx->rbp;
    registers[7] = ctx->rsi;
    registers[8] = ctx->rdi;
    registers[9] = ctx->r8;
    registers[10] = ctx->r9;
    registers[11] = ctx->r10;
    registers[12] = ctx->r11;
    registers[13] = ctx->r12;
    registers[14] = ctx->r13;
    registers[15] = ctx->r14;
    registers[16] = ctx->r15;
    registers[WIRE_OPERAND_CALL] = ctx->rip;
}

/* Whether an interrupt came while the thread was in user mode. */
static __always_inline bool is_user_mode(const bpf_user_pt_regs_t* interrupted) {
    return interrupted->cs & 3;
}

/* The number of the system call that the thread is in; negative: none, it was interrupted. */
static __always_inline s64 syscall_number(const struct pt_regs___kernel* regs) {
    return regs->orig_ax;
}

/* ... and its first argument. */
static __always_inline u64 syscall_argument(const struct pt_regs___kernel* regs) {
    return regs->di;
}

/* Whether the thread runs a 32-bit program. */
static __always_inline bool is_compat(const struct pt_regs___kernel* regs) {
    return regs->cs == COMPAT_CODE;
}

/* Whether it waits for one of several things to happen. */
static __always_inline bool waits_for_events(const struct pt_regs___kernel* regs) {
    enum {
        POLL = 7,
        SELECT = 23,
        EPOLL_WAIT = 232,
        PSELECT6 = 270,
        PPOLL = 271,
        EPOLL_PWAIT = 281,
        IO_URING_ENTER = 426,
        EPOLL_PWAIT2 = 441,
    };

    if (is_compat(regs))
        return false; // its numbers are others
    switch (regs->orig_ax) {
    case POLL:
    case SELECT:
    case EPOLL_WAIT:
    case PSELECT6:
    case PPOLL:
    case EPOLL_PWAIT:
    case IO_URING_ENTER:
    case EPOLL_PWAIT2:
        return true;
    }
    return false;
}

static __always_inline bool is_exec(const struct pt_regs___kernel* regs) {
    enum { EXECVE = 59, EXECVEAT = 322 };

    return regs->orig_ax == EXECVE || regs->orig_ax == EXECVEAT;
}

enum { SYS_READ = 0, SYS_READV = 19, SYS_RECVFROM = 45, SYS_RECVMSG = 47, MSG_IOV = 16 };

/* Whether its system call receives something by the descriptor that is its first argument. */
static __always_inline bool receives(const struct pt_regs___kernel* regs) {
    s64 number = regs->orig_ax;

    return !is_compat(regs) && (number == SYS_READ || number == SYS_READV ||
                                number == SYS_RECVFROM || number == SYS_RECVMSG);
}

/* Whether it connects a socket, by the descriptor that is its first argument. */
static __always_inline bool connects(const struct pt_regs___kernel* regs) {
    enum { CONNECT = 42 };

    return !is_compat(regs) && regs->orig_ax == CONNECT;
}

/* Where such a system call puts it; 0: not known. */
static __always_inline u64 receive_buffer(const struct pt_regs___kernel* regs) {
    u64 address = regs->si;

    if (!receives(regs))
        return 0;
    if (regs->orig_ax == SYS_READ || regs->orig_ax == SYS_RECVFROM)
        return address;
    if (regs->orig_ax == SYS_RECVMSG &&
        bpf_probe_read_user(&address, sizeof(address), (void*)address + MSG_IOV))
        return 0;
    // Of the first iovec.
    return bpf_probe_read_user(&address, sizeof(address), (void*)address) ? 0 : address;
}

/* Where execute_ex(), PHP's loop, has its frame and the instruction that is executed: what the
 * variables of zend_execute.c are that GCC keeps in registers. Other compilers have them elsewhere.
 */
static __always_inline u64 php_frame_register(const struct pt_regs___kernel* regs) {
    return regs->r14;
}

static __always_inline u64 php_instruction_register(const struct pt_regs___kernel* regs) {
    return regs->r15;
}

/* The registers that walks follow: into the members ip, sp, bp and bx of *to. */
#define TAKE_WALK_REGISTERS(to, regs)                                                              \
    do {                                                                                           \
        (to)->ip = (regs)->ip;                                                                     \
        (to)->sp = (regs)->sp;                                                                     \
        (to)->bp = (regs)->bp;                                                                     \
        (to)->bx = (regs)->bx;                                                                     \
    } while (0)

#endif
