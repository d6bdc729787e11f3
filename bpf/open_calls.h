/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Questions about a thread's open calls that both the tracker and the sampler ask. */
#ifndef AUGER_OPEN_CALLS_H
#define AUGER_OPEN_CALLS_H

#include "maps.h"

#include ARCH(calls.h)

/* A call whose spec was deleted or replaced since is no call any more. */
static __always_inline bool is_current(const struct open_call* call) {
    u32 index = call->spec;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);

    return spec && (u16)spec->generation == call->generation && spec->flags;
}

/* Whether it is listed in samples: a point of a span is nothing that time is spent in. */
static __always_inline bool is_listed(const struct open_call* call) {
    u32 index = call->spec;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);

    return spec && (u16)spec->generation == call->generation && spec->flags && !spec->point.role;
}

/*
 * 1 when a stack pointer that is here, above the call's, proves that the call has been left. On the
 * thread's own stack it does. Coroutines, fibers and signal handlers run on others, and a call that
 * is suspended there still waits: on another mapping it is kept, as long as that exists; on one
 * mapping, which may hold many such stacks, it is kept for as long as its return address is still
 * in place. Asked only in the rare case that some call is below. When the mappings cannot be read
 * now (their lock is taken), the return address decides if it is known; it is of all calls but
 * those on the thread's own stack, whose place is known.
 */
int has_been_left(struct open_call* call, struct stack_place* here);

/* 1 when `sp` lies on the thread's own stack, whose place is then remembered if it can be told now:
 * when another thread has the lock of the mappings, only what is near the stack's end is known. */
int find_own_stack(struct open_calls* calls, u64 sp);

/*
 * Whether `sp` lies on the thread's own stack; false also when that cannot be told now. Asked at
 * every entry, in place of reading the return address from user memory, which costs some ten times
 * as much. The mappings are looked at only for the first call, and when the stack has grown.
 */
static __always_inline bool is_on_own_stack(struct open_calls* calls, u64 sp) {
    const u64 growth = 1 << 20;

    if (sp < calls->own_stack_end && sp >= calls->own_stack_start)
        return true;
    if (calls->own_stack_end &&
        (sp >= calls->own_stack_end || sp + growth < calls->own_stack_start))
        return false;
    return find_own_stack(calls, sp);
}

/* The current thread's; see settle_return(). */
int charge_unseen_wait(struct open_calls* calls);

/* Before the sums of waits are read, of the current thread, or it begins a call. */
static __always_inline void settle_return(struct open_calls* calls) {
    if (calls->away.since_ns)
        charge_unseen_wait(calls);
}

#endif
