// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From a frame to its caller by what its code looks like, where there is no rule. Of the walk
// alone.
#ifndef AUGER_ARCH_WALK_CODE_H
#define AUGER_ARCH_WALK_CODE_H

#include "unwind_returns.h"

#include ARCH(walk_registers.h)

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

// Whether what is at the stack pointer is the return address. Code that V8 has optimized in the
// middle of a loop has slots there that nobody wrote to, with what former calls have left; but it
// is in a function whose frame is known, and what is in V8's file, the interpreter above all, has
// called it only if that function is interpreted.
static __always_inline bool is_callers(struct stack_walk* walk, u64 address) {
    return walk->v8.frame != V8_FRAME_OWN && is_code_behind_call(walk, address) &&
           !(walk->v8.frame == V8_FRAME_COMPILED && walk->mapping.kind == WIRE_MAPPING_V8_FILE);
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
        if (prologue == PROLOGUE_NOTHING_PUSHED || is_callers(walk, return_address))
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

#endif
