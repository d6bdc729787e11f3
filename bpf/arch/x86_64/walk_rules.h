// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From a frame to its caller by a rule. Of the walk alone.
#ifndef AUGER_ARCH_WALK_RULES_H
#define AUGER_ARCH_WALK_RULES_H

#include "unwind_returns.h"

#include ARCH(walk_registers.h)

/* Of the ucontext that the kernel leaves for a signal's handler. */
enum {
    UCONTEXT_RBP = 120,
    UCONTEXT_RBX = 128,
    UCONTEXT_RSP = 160,
    UCONTEXT_RIP = 168,
};

// By a rule of WIRE_CFA_GOROUTINE.
__noinline int step_to_goroutine(struct stack_walk* walk) {
    u64 word, return_address, sp;

    if (!walk)
        return WIRE_STOP_END;
    word = bpf_get_current_task_btf()->THREAD_POINTER + walk->rule.offset;
    if (!read_user_word(word, &word) || !read_user_word(word + walk->rule.rbx_offset, &word) ||
        !read_user_word(word + walk->rule.rbp_offset, &word))
        return WIRE_STOP_UNREADABLE;
    // The scheduler looks for work.
    if (!word)
        return WIRE_STOP_END;
    word += walk->rule.addend;
    if (!read_user_word(word, &sp))
        return WIRE_STOP_UNREADABLE;
    walk->slot = word + sizeof(u64);
    if (walk->rule.return_kind == WIRE_RETURN_AT_CFA) {
        walk->slot = sp;
        sp += sizeof(u64);
    }
    if (!read_user_word(walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    walk->bx_state = WIRE_RBX_LOST;
    walk->sp = 0; // its stack may lie below
    return enter_caller(walk, return_address, sp);
}

// By the rule in walk->rule. Returns why the walk ends here, or WIRE_STOPS.
static __always_inline int step_by_rule(struct stack_walk* walk) {
    u64 cfa, bp, return_address = 0;
    bool by_register;

    if (walk->rule.cfa == WIRE_CFA_END)
        return WIRE_STOP_END;
    if (walk->rule.cfa == WIRE_CFA_SIGNAL) {
        u64 context = walk->sp, ip, sp;

        if (!read_user_word(context + UCONTEXT_RIP, &ip) ||
            !read_user_word(context + UCONTEXT_RSP, &sp) ||
            !read_user_word(context + UCONTEXT_RBP, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        // Handlers may run on a stack of their own: this one step may go down.
        walk->bx = context + UCONTEXT_RBX;
        walk->bx_state = WIRE_RBX_MEMORY;
        walk->ip = ip;
        walk->sp = sp;
        walk->exact = 1;
        // While the kernel puts the registers back, one after the other, there is no such frame.
        return ip ? WIRE_STOPS : WIRE_STOP_STUCK;
    }
    if (walk->rule.cfa == WIRE_CFA_UNSUPPORTED)
        return WIRE_STOP_UNSUPPORTED;
    if (walk->rule.cfa == WIRE_CFA_GOROUTINE)
        return step_to_goroutine(walk);
    if (walk->rule.cfa_register == DWARF_RSP)
        cfa = walk->sp;
    else if (walk->rule.cfa_register == DWARF_RBP)
        cfa = walk->bp;
    else if (!read_register(walk, walk->rule.cfa_register, &cfa))
        return WIRE_STOP_UNSUPPORTED;
    cfa += walk->rule.offset;
    if (walk->rule.cfa == WIRE_CFA_MEMORY) {
        if (!read_user_word(cfa, &cfa))
            return WIRE_STOP_UNREADABLE;
        cfa += walk->rule.addend;
    } else if (walk->rule.cfa == WIRE_CFA_PLT) {
        cfa += (walk->ip & 15) >= (u32)walk->rule.addend ? sizeof(u64) : 0;
    }
    bp = walk->bp;
    // From lower to higher addresses, as windows move: the frame pointer most often lies below the
    // return address.
    by_register = walk->rule.return_kind == WIRE_RETURN_REGISTER;
    if (by_register && !read_register(walk, walk->rule.return_register, &return_address))
        return WIRE_STOP_UNSUPPORTED;
    switch (walk->rule.rbp_saved) {
    case WIRE_SAVED_AT_CFA:
        if (!read_stack_word(walk, cfa + 8 * (s64)walk->rule.rbp_offset, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        break;
    case WIRE_SAVED_AT_RBP:
        // GCC goes on saying so in the epilogue, when rbp has been restored already.
        if (bp >= walk->sp && bp < cfa &&
            !read_stack_word(walk, bp + 8 * (s64)walk->rule.rbp_offset, &walk->bp))
            return WIRE_STOP_UNREADABLE;
        break;
    case WIRE_SAVED_LOST:
        walk->bp = 0;
        break;
    }
    walk->slot = by_register ? 0 : cfa - sizeof(u64);
    if (!by_register && !read_stack_word(walk, walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    switch (walk->rule.rbx_saved) {
    case WIRE_SAVED_AT_CFA:
        walk->bx = cfa + 8 * (s64)walk->rule.rbx_offset;
        walk->bx_state = WIRE_RBX_MEMORY;
        break;
    case WIRE_SAVED_AT_RBP:
        walk->bx = bp + 8 * (s64)walk->rule.rbx_offset;
        walk->bx_state = WIRE_RBX_MEMORY;
        break;
    case WIRE_SAVED_LOST:
        walk->bx_state = WIRE_RBX_LOST;
        break;
    }
    // The other stack may lie below.
    if (walk->rule.cfa == WIRE_CFA_OTHER_STACK)
        walk->sp = 0;
    return enter_caller(walk, return_address, cfa);
}

#endif
