// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What explained calls are made of: the time of each part, a timed function, within one call,
// without what other parts took inside it. Of the call tracker alone.
//
// When a call ends, its duration is added to `parts_ns` of the call around it, so that what remains
// of that one when it ends is its own. A call that is no part hands on what parts took inside it.
// So the parts and what is left of the explained call add up to its duration.
//
// A call of the explained function inside another one is no part: its time belongs to the outer
// one.
#ifndef AUGER_CALL_PARTS_H
#define AUGER_CALL_PARTS_H

#include "call_ends.h"
#include "thread_storage.h"

/* The explained call that is open. Written and read by the tracker alone; when it cannot be made,
 * the call is not told, and counted as WIRE_LOSS_PARTS_MEMORY. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct wire_call_parts);
} call_parts SEC(".maps");

static __always_inline struct wire_call_parts* begin_parts(void) {
    struct wire_call_parts* parts =
        thread_storage(&call_parts, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);

    if (!parts) {
        count_loss(WIRE_LOSS_PARTS_MEMORY);
        return NULL;
    }
    parts->set = config.explained_set;
    parts->parts = 0;
    __builtin_memset(parts->part, 0, sizeof(parts->part));
    return parts;
}

// A call of the explained function begins, in no other one.
__noinline int begin_whole(struct open_calls* calls, struct open_call* call) {
    if (!calls || !call || !config.explained_every)
        return 0;
    call->state |= CALL_WHOLE;
    calls->explained = EXPLAINED_LEFT_OUT;
    // Of a coroutine: the thread goes on with others while it waits.
    if (!is_on_own_stack(calls, call->sp)) {
        count_loss(WIRE_LOSS_PARTS_STACK);
        return 0;
    }
    if (begin_parts())
        calls->explained = EXPLAINED;
    return 0;
}

// `parts->end` is filled in.
static __always_inline void send_parts(struct wire_call_parts* parts) {
    u32 every = parts->end.duration_ns > config.explained_slow_ns ? 1 : config.explained_every;
    u32 count = parts->incomplete ? 0 : parts->parts;
    u64 size = sizeof(*parts) - sizeof(parts->part);

    // What parts are has changed meanwhile, or nobody asks any more.
    if (parts->set != config.explained_set || !every)
        return;
    if (every > 1 && bpf_get_prandom_u32() % every)
        return;
    if (count > WIRE_MAX_PARTS)
        count = WIRE_MAX_PARTS;
    parts->parts = count;
    parts->every = every;
    size += count * sizeof(parts->part[0]);
    parts->end.event.kind = WIRE_CALL_PARTS;
    parts->end.event.size = size;
    if (bpf_ringbuf_output(&events, parts, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_PARTS);
}

// calls->ending has returned, while an explained call is open; `part` is what its spec is to that.
__noinline int end_part(struct open_calls* calls, u32 part, u64 duration, u64 now) {
    struct wire_call_parts* parts;
    struct wire_call_part* told;
    struct open_call *call, *around;
    u32 depth, explained;

    if (!calls)
        return 0;
    call = &calls->ending;
    depth = calls->depth;
    explained = calls->explained;
    if (call->state & CALL_WHOLE) {
        calls->explained = EXPLAINED_NONE;
        if (part != WIRE_PART_WHOLE || explained == EXPLAINED_LEFT_OUT)
            return 0;
    } else {
        if (!depth)
            return 0;
        around = &calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)];
        if (!part || part > WIRE_MAX_PARTS) {
            around->parts_ns += call->parts_ns;
            return 0;
        }
        around->parts_ns += duration;
        if (explained != EXPLAINED)
            return 0;
    }
    parts = thread_storage(&call_parts, bpf_get_current_task_btf(), 0);
    if (!parts)
        return 0;
    if (call->state & CALL_WHOLE) {
        fill_end(&parts->end, calls, call, now);
        parts->incomplete = explained == EXPLAINED_INCOMPLETE;
        send_parts(parts);
        return 0;
    }
    if (part > parts->parts)
        parts->parts = part;
    told = &parts->part[(part - 1) & (WIRE_MAX_PARTS - 1)];
    told->self_ns += duration - call->parts_ns;
    told->calls++;
    told->spec = call->spec;
    told->generation = call->generation;
    return 0;
}

#endif
