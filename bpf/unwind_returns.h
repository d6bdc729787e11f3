// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Return addresses that return probes have replaced, and the way to a caller past them. Of the walk
// alone.
#ifndef AUGER_UNWIND_RETURNS_H
#define AUGER_UNWIND_RETURNS_H

#include "return_probes.h"
#include "unwind_memory.h"

// Goes on to the thread's next return probe, if the walk has passed the place of this one.
__noinline int pass_return_instances(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < MAX_RETURN_INSTANCES; i++) {
        const struct return_instance* at = (void*)walk->return_instance;

        if (!at || walk->return_instance_slot >= walk->slot)
            break;
        walk->return_instance = (u64)BPF_CORE_READ(at, next);
        at = (void*)walk->return_instance;
        walk->return_instance_slot = at ? BPF_CORE_READ(at, stack) : 0;
    }
    return 0;
}

// A return probe has replaced the return address at walk->slot: what stood there. Several may have,
// one behind the other; the last one in the list was first.
__noinline int restore_return_address(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < MAX_RETURN_INSTANCES; i++) {
        const struct return_instance* at = (void*)walk->return_instance;

        if (!at || walk->return_instance_slot != walk->slot)
            break;
        walk->ip = BPF_CORE_READ(at, orig_ret_vaddr);
        walk->return_instance = (u64)BPF_CORE_READ(at, next);
        at = (void*)walk->return_instance;
        walk->return_instance_slot = at ? BPF_CORE_READ(at, stack) : 0;
    }
    return 0;
}

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

#endif
