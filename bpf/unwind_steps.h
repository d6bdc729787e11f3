// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From a frame to its caller: by a rule, by what its code looks like, or to the goroutine whose
// work it does. x86-64. Of the walk alone.
#ifndef AUGER_UNWIND_STEPS_H
#define AUGER_UNWIND_STEPS_H

#include "unwind_returns.h"

// Goes to the caller: its return address, as read from walk->slot, and its stack pointer.
static __always_inline u32 enter_caller(struct stack_walk* walk, u64 return_address, u64 sp) {
    // Where the return address is in a register (vfork), nothing may have been pushed.
    if (walk->slot ? sp <= walk->sp : sp < walk->sp)
        return WIRE_STOP_STUCK;
    walk->ip = return_address;
    if (walk->return_instance) {
        pass_return_instances(walk);
        restore_return_address(walk);
    }
    walk->sp = sp;
    walk->exact = 0;
    // What the outermost function of a thread finds where others have their return address.
    return walk->ip ? WIRE_STOPS : WIRE_STOP_END;
}

// By a rule of WIRE_CFA_GOROUTINE.
__noinline int step_to_goroutine(struct stack_walk* walk) {
    u64 word, return_address, sp;

    if (!walk)
        return WIRE_STOP_END;
    word = bpf_get_current_task_btf()->thread.fsbase + walk->rule.offset;
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

// Whether `address` stands behind a call instruction: e8 and five bytes, or ff /2 in one of its
// lengths of two to seven bytes.
__noinline int is_behind_call(u64 address) {
    u8 before[8];

    if (bpf_probe_read_user(before, sizeof(before), (void*)(address - sizeof(before))))
        return 0;
    if (before[3] == 0xe8)
        return 1;
    for (u32 i = 1; i < 7; i++) {
        if (before[i] == 0xff && (before[i + 1] & 0x38) == 0x10)
            return 1;
    }
    return 0;
}

// ... and in an executable mapping.
static __always_inline bool is_code_behind_call(struct stack_walk* walk, u64 address) {
    walk->code = address - 1;
    return (is_in_mapping(walk) || find_mapping(walk)) && is_behind_call(address);
}

enum prologue {
    PROLOGUE_UNKNOWN,
    PROLOGUE_NOTHING_PUSHED, // the return address is at the stack pointer
    PROLOGUE_PUSHED_RBP,     // ... and the caller's rbp before it
};

// What the code at an address tells of a function that is being entered or left.
static __always_inline u32 read_prologue(u64 address) {
    u64 code = 0, before = 0;

    if (!read_user_word(address, &code))
        return PROLOGUE_UNKNOWN;
    if ((u8)code == 0x55 || (u8)code == 0xc3 || (u8)code == 0xc2 || (u16)code == 0xc3f3 ||
        (u32)code == 0xfa1e0ff3)
        return PROLOGUE_NOTHING_PUSHED;
    if ((u32)(code << 8) == 0xe5894800 || (u32)(code << 8) == 0xec8b4800) {
        if (read_user_word(address - sizeof(before), &before) && before >> 56 == 0x55)
            return PROLOGUE_PUSHED_RBP;
    }
    return PROLOGUE_UNKNOWN;
}

// Where there is no call frame information. Returns why the walk ends here, or WIRE_STOPS.
__noinline int step_without_rule(struct stack_walk* walk, bool at_return) {
    u32 prologue = PROLOGUE_UNKNOWN;
    u64 caller_bp, return_address, sp;

    if (!walk)
        return WIRE_STOP_END;
    if (walk->exact)
        prologue =
            at_return && walk->count == 1 ? PROLOGUE_NOTHING_PUSHED : read_prologue(walk->ip);
    if (walk->exact && prologue == PROLOGUE_PUSHED_RBP) {
        walk->bp = walk->sp;
    } else if (walk->exact) {
        if (!read_stack_word(walk, walk->sp, &return_address))
            return WIRE_STOP_UNREADABLE;
        walk->slot = walk->sp;
        // A leaf function without a frame: else hardly anything at the stack pointer looks like it.
        // One with a frame may have its caller's rbp there, which may point to data: any bytes.
        if (prologue == PROLOGUE_NOTHING_PUSHED || is_code_behind_call(walk, return_address))
            return enter_caller(walk, return_address, walk->sp + sizeof(u64));
    }
    // By convention, of the outermost frame.
    if (!walk->bp)
        return WIRE_STOP_END;
    if (walk->bp < walk->sp || walk->bp & 7)
        return WIRE_STOP_NO_TABLE;
    walk->slot = walk->bp + sizeof(u64);
    if (!read_stack_word(walk, walk->bp, &caller_bp) ||
        !read_stack_word(walk, walk->slot, &return_address))
        return WIRE_STOP_UNREADABLE;
    if (return_address && walk->return_instance_slot != walk->slot &&
        !is_behind_call(return_address))
        return WIRE_STOP_NO_TABLE;
    sp = walk->slot + sizeof(u64);
    walk->bp = caller_bp;
    walk->bx_state = WIRE_RBX_LOST;
    return enter_caller(walk, return_address, sp);
}

// From the frame at hand to its caller's. Returns why the walk ends here, or WIRE_STOPS. Calls and
// returns are dear where the kernel guards against speculation: this is one function.
__noinline int step(struct stack_walk* walk, bool at_return) {
    if (!walk)
        return WIRE_STOP_END;
    walk->code = walk->exact ? walk->ip : walk->ip - 1;
    if (!is_in_mapping(walk) && !find_mapping(walk))
        return WIRE_STOP_NO_MAPPING;
    if (find_rule(walk) == WIRE_UNWIND_PENDING)
        return WIRE_STOP_PENDING;
    return walk->rule.cfa != WIRE_CFA_NONE ? step_by_rule(walk)
                                           : step_without_rule(walk, at_return);
}

#endif
