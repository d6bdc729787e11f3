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

// From the frame at hand to its caller's. Returns why the walk ends here, or WIRE_STOPS. Calls and
// returns are dear where the kernel guards against speculation: this is one function.
__noinline int step(struct stack_walk* walk, bool at_return) {
    bool is_v8;
    u32 stop;
    u64 bp;

    if (!walk)
        return WIRE_STOP_END;
    walk->code = walk->exact ? walk->ip : walk->ip - 1;
    if (!is_in_mapping(walk) && !find_mapping(walk))
        return WIRE_STOP_NO_MAPPING;
    if (walk->mapping.kind == WIRE_MAPPING_HOTSPOT) {
        stop = step_through_hotspot(walk);
        return stop == HOTSPOT_WITHOUT_RULE ? step_without_rule(walk, at_return) : stop;
    }
    is_v8 = is_v8_code(walk);
    bp = walk->bp;
    if (is_v8)
        note_v8_frame(walk);
    if (find_rule(walk) == WIRE_UNWIND_PENDING)
        stop = WIRE_STOP_PENDING;
    else
        stop = walk->rule.cfa != WIRE_CFA_NONE ? step_by_rule(walk)
                                               : step_without_rule(walk, at_return);
    // Where the frame pointer has not led to the caller, it is the caller's own.
    if (is_v8 && (stop != WIRE_STOPS || walk->slot != bp + sizeof(u64)))
        walk->noted.first = 0;
    return stop;
}

#endif
