// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From a frame to its caller: by a rule, by what its code looks like, or to the goroutine whose
// work it does. Of the walk alone.
#ifndef AUGER_UNWIND_STEPS_H
#define AUGER_UNWIND_STEPS_H

#include "arch/arch.h"

#include ARCH(walk_registers.h)
#include ARCH(walk_rules.h)
#include ARCH(walk_code.h)
#include ARCH(walk_hotspot.h)

#include "v8_frames.h"

// Code of V8's file that others jump to, with their frame, has no call frame information; what its
// instructions tell takes the top of that frame for a return address (Builtins_BaselineLeaveFrame).
static __always_inline bool is_entered_by_jump(struct stack_walk* walk) {
    u64 slot, return_address;

    if (walk->mapping.kind != WIRE_MAPPING_V8_FILE || !walk->exact ||
        walk->rule.cfa != WIRE_CFA_REGISTER || walk->rule.cfa_register != DWARF_RSP)
        return false;
    slot = walk->sp + walk->rule.offset - sizeof(u64);
    return slot != walk->return_instance_slot && read_stack_word(walk, slot, &return_address) &&
           !is_code_behind_call(walk, return_address);
}

// From the frame at hand to its caller's, by a rule or without. Returns why the walk ends here, or
// WIRE_STOPS. Calls and returns are dear where the kernel guards against speculation: this is one
// function.
__noinline int step(struct stack_walk* walk, bool at_return) {
    if (!walk)
        return WIRE_STOP_END;
    if (walk->mapping.kind == WIRE_MAPPING_HOTSPOT)
        return step_without_rule(walk, at_return);
    if (find_rule(walk) == WIRE_UNWIND_PENDING)
        return WIRE_STOP_PENDING;
    return walk->rule.cfa != WIRE_CFA_NONE && !is_entered_by_jump(walk)
               ? step_by_rule(walk)
               : step_without_rule(walk, at_return);
}

static __always_inline u32 step_through_v8(struct stack_walk* walk, bool at_return) {
    u32 stop;

    walk->v8.ip = walk->ip;
    walk->v8.bp = walk->bp;
    note_v8_frame(walk);
    stop = step(walk, at_return);
    // Where the frame pointer has not led to the caller, it is the caller's own.
    if (stop != WIRE_STOPS || walk->slot != walk->v8.bp + sizeof(u64))
        walk->noted.first = 0;
    walk->v8.inner = walk->noted.first ? 0 : walk->v8.ip;
    return stop;
}

// No thread begins in a runtime's code: what looks like the outermost frame is a guess that went
// wrong (a zero in the frame pointer, which it uses as any other register). By a rule it is none:
// the file that holds V8 is often the program itself, with _start.
static __always_inline u32 step_through_runtime(struct stack_walk* walk, bool at_return) {
    u32 stop;

    if (walk->mapping.kind != WIRE_MAPPING_HOTSPOT) {
        stop = step_through_v8(walk, at_return);
        return stop == WIRE_STOP_END && walk->rule.cfa == WIRE_CFA_NONE ? WIRE_STOP_NO_TABLE : stop;
    }
    stop = step_through_hotspot(walk);
    if (stop == STEP_WITHOUT_RULE)
        stop = step(walk, at_return);
    return stop == WIRE_STOP_END ? WIRE_STOP_NO_TABLE : stop;
}

// The same through every kind of code. Functions that call each other have 512 bytes of the BPF
// stack together, so those that need much are called one after the other.
static __always_inline u32 step_through_code(struct stack_walk* walk, bool at_return) {
    walk->code = walk->exact ? walk->ip : walk->ip - 1;
    if (!is_in_mapping(walk) && !find_mapping(walk))
        return WIRE_STOP_NO_MAPPING;
    if (!is_v8_code(walk))
        walk->v8.inner = 0;
    return walk->mapping.kind == WIRE_MAPPING_HOTSPOT || is_v8_code(walk)
               ? step_through_runtime(walk, at_return)
               : (u32)step(walk, at_return);
}

#endif
