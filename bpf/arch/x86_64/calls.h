// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// How calls are known: by the stack pointer at their entry, where x86-64 has pushed the return
// address. See open_call.sp.
#ifndef AUGER_ARCH_CALLS_H
#define AUGER_ARCH_CALLS_H

#include "kernel_types.h"

/* Where the return address of a call lies, or lay. */
static __always_inline u64 return_slot(u64 sp) {
    return sp & ~7ULL;
}

/* Reads the return address of a call, or its low half. Not 0: it cannot be read. `stack_base` is
 * where sp counts from. */
static __always_inline long read_return_address(void* address, u32 size, u64 stack_base, u64 sp) {
    return bpf_probe_read_user(address, size, (void*)(stack_base + return_slot(sp)));
}

/* A call's open_call.sp, from the stack pointer at a probe. */
static __always_inline u64 call_stack_pointer(u64 sp, bool at_call_site) {
    return at_call_site ? sp - sizeof(u64) / 2 : sp;
}

/* ... at an exit, of which the cookie tells how far the return address is. */
static __always_inline u64 exit_stack_pointer(struct pt_regs* ctx, u64 cookie) {
    u64 words = (cookie >> WIRE_COOKIE_FRAME_SHIFT) & WIRE_COOKIE_FRAME_MASK;
    /* Each is read at an offset of its own, which the compiler must not choose at run time. */
    u64 sp = *(volatile __typeof__(ctx->rsp)*)&ctx->rsp;
    u64 frame = *(volatile __typeof__(ctx->rbp)*)&ctx->rbp;

    return (cookie >> WIRE_COOKIE_FRAME_POINTER_SHIFT ? frame : sp) + words * sizeof(u64);
}

/* ... of a function that has just returned. */
static __always_inline u64 returned_stack_pointer(struct pt_regs* ctx) {
    return PT_REGS_SP(ctx) - sizeof(u64);
}

/* Where the return address will lie, or lies: above it was the stack pointer. */
static __always_inline u64 frame_address(struct pt_regs* ctx, bool at_call_site) {
    return at_call_site ? PT_REGS_SP(ctx) : PT_REGS_SP(ctx) + sizeof(u64);
}

/* At the entry of a function: where it will return to. Not 0: that cannot be read. */
static __always_inline long read_caller(struct pt_regs* ctx, u64* address) {
    return bpf_probe_read_user(address, sizeof(*address), (void*)PT_REGS_SP(ctx));
}

/* The first argument of a Go function. */
static __always_inline u64 go_argument(struct pt_regs* ctx) {
    return ctx->rax;
}

/* ... its third one, of an integer's low half. */
static __always_inline u32 go_third_argument(struct pt_regs* ctx) {
    return (u32)ctx->rcx;
}

/* The current goroutine, where a Go function begins. */
static __always_inline u64 go_current(struct pt_regs* ctx) {
    return ctx->r14;
}

// Whether a conditional jump will be taken, from the flags it is about to test. (Intel's manual,
// volume 1, appendix B: the low bit of the condition negates.)
static __noinline bool condition_holds(u32 condition, u64 flags) {
    bool carry = flags & 1, parity = flags & 4, zero = flags & 0x40, sign = flags & 0x80,
         overflow = flags & 0x800, holds;

    switch ((condition >> 1) & 7) {
    case 0:
        holds = overflow;
        break;
    case 1:
        holds = carry;
        break;
    case 2:
        holds = zero;
        break;
    case 3:
        holds = carry || zero;
        break;
    case 4:
        holds = sign;
        break;
    case 5:
        holds = parity;
        break;
    case 6:
        holds = sign != overflow;
        break;
    default:
        holds = zero || sign != overflow;
        break;
    }
    return holds != (condition & 1);
}

/* ... at a probe on it. `condition` stands in the cookie. */
static __always_inline bool jump_is_taken(struct pt_regs* ctx, u32 condition) {
    return condition_holds(condition, ctx->eflags);
}

#endif
