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

// From the frame at hand to its caller's. Returns why the walk ends here, or WIRE_STOPS. Calls and
// returns are dear where the kernel guards against speculation: this is one function.
__noinline int step(struct stack_walk* walk, bool at_return) {
    if (!walk)
        return WIRE_STOP_END;
    walk->code = walk->exact ? walk->ip : walk->ip - 1;
    if (!is_in_mapping(walk) && !find_mapping(walk))
        return WIRE_STOP_NO_MAPPING;
    if (walk->mapping.kind == WIRE_MAPPING_HOTSPOT)
        return walk->hotspot.without_rule ? step_without_rule(walk, at_return) : STEP_OF_HOTSPOT;
    if (find_rule(walk) == WIRE_UNWIND_PENDING)
        return WIRE_STOP_PENDING;
    return walk->rule.cfa != WIRE_CFA_NONE ? step_by_rule(walk)
                                           : step_without_rule(walk, at_return);
}

// The same through every kind of code. Functions that call each other have 512 bytes of the BPF
// stack together, so those that need much are called one after the other.
static __always_inline u32 step_through_code(struct stack_walk* walk, bool at_return) {
    u32 stop;

    walk->hotspot.without_rule = 0;
    stop = step(walk, at_return);
    if (stop == STEP_OF_HOTSPOT)
        stop = step_through_hotspot(walk);
    return stop == STEP_WITHOUT_RULE ? step(walk, at_return) : stop;
}

#endif
