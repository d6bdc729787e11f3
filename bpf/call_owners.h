// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Whose calls they are: of a thread or a goroutine, when that is observed. Of the call tracker
// alone.
#ifndef AUGER_CALL_OWNERS_H
#define AUGER_CALL_OWNERS_H

#include "call_counters.h"
#include "filter.h"
#include "goroutine.h"
#include "open_calls.h"
#include "thread_storage.h"

// What became of it when somebody asked for the open calls of a thread.
enum thread_calls {
    THREAD_IS_OBSERVED,
    THREAD_IS_NOT_OBSERVED,
    THREAD_HAS_NO_ROOM, // counted as lost
};

// The open calls of a thread that is observed, and NULL when there are none. Observed threads are
// asked once in a scope: the look-ups cost more than all else here.
static __always_inline struct open_calls* calls_of_thread(struct task_struct* task,
                                                          enum thread_calls* found) {
    struct open_calls* calls = thread_storage(&open_calls, task, 0);
    // Read before the target and the filters, since it changes after them.
    u32 scope = *(volatile u32*)&config.scope;

    *found = THREAD_IS_OBSERVED;
    if (calls)
        settle_return(calls);
    if (calls && scope && calls->scope == scope)
        return calls;
    if (!is_calibrating(task->tgid, WIRE_CALIBRATE_CALLS) && !is_observed(task->tgid, task->pid)) {
        *found = THREAD_IS_NOT_OBSERVED;
        return NULL;
    }
    if (!calls)
        calls = thread_storage(&open_calls, task, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!calls) {
        *found = THREAD_HAS_NO_ROOM;
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    calls->scope = scope;
    return calls;
}

// ... at an entry, which is counted.
static __always_inline struct open_calls* calls_of_observed(struct task_struct* task,
                                                            struct wire_call_counters* counters) {
    enum thread_calls found;
    struct open_calls* calls = calls_of_thread(task, &found);

    if (found == THREAD_IS_NOT_OBSERVED)
        return NULL;
    __sync_fetch_and_add(&counters->entries, 1);
    if (found == THREAD_HAS_NO_ROOM)
        __sync_fetch_and_add(&counters->dropped, 1);
    return calls;
}

// The open calls of a goroutine that is observed now, made where there are none.
static __always_inline struct open_calls* calls_of_goroutine(const struct goroutine* owner,
                                                             const struct wire_go_runtime* runtime,
                                                             struct wire_call_counters* counters) {
    // All zero: a new value for the map.
    static const struct goroutine_state none;
    struct open_calls* calls = bpf_map_lookup_elem(&goroutine_calls, &owner->key);
    u32 tgid = owner->key.tgid;

    if (!is_observed(tgid, (u32)bpf_get_current_pid_tgid()))
        return NULL;
    __sync_fetch_and_add(&counters->entries, 1);
    if (!calls) {
        bpf_map_update_elem(&goroutine_calls, &owner->key, &none, BPF_NOEXIST);
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner->key);
        // Goroutines that wait equally long must not be sampled alike.
        if (calls)
            ((struct goroutine_state*)calls)->waits.away.clock_ns = bpf_get_prandom_u32();
    }
    if (!calls) {
        __sync_fetch_and_add(&counters->dropped, 1);
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    if (!bpf_map_lookup_elem(&go_processes, &tgid) &&
        bpf_map_update_elem(&go_processes, &tgid, runtime, BPF_ANY))
        count_loss(WIRE_LOSS_STORAGE);
    calls->stack_base = owner->stack_end;
    calls->g = owner->key.g;
    return calls;
}

// Its start is another one than that of every call that began on this CPU.
static __always_inline u32 next_sequence(struct open_calls* calls, bool of_no_thread) {
    u32 next = calls->next_sequence++;

    return of_no_thread ? WIRE_CALL_OF_NO_THREAD | (bpf_get_smp_processor_id() & 0x7ff) << 20 |
                              (next & 0xfffff)
                        : next & ~WIRE_CALL_OF_NO_THREAD;
}

#endif
