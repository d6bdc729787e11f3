// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The end of a call, as it is counted and told: its duration, its marks, and the event where
// somebody wants it. Of the call tracker alone.
#ifndef AUGER_CALL_ENDS_H
#define AUGER_CALL_ENDS_H

#include "call_counters.h"
#include "events.h"
#include "open_calls.h"

// Of a call that ends: without what sampling has added to it.
static __always_inline u64 duration_of(const struct open_calls* calls, const struct open_call* call,
                                       u64 now) {
    u64 duration = now - call->start_ns;
    u64 own_ns = calls->own_ns_at_end - call->own_ns;

    return duration > own_ns ? duration - own_ns : 1;
}

static __always_inline void fill_end(struct wire_call_end* end, const struct open_calls* calls,
                                     const struct open_call* call, u64 now) {
    fill_event(&end->event, WIRE_CALL_END, sizeof(*end));
    end->event.time_ns = now;
    end->call.start_ns = call->start_ns;
    end->call.sequence = call->sequence;
    end->call.spec = call->spec;
    end->call.generation = call->generation;
    end->duration_ns = duration_of(calls, call, now);
    end->blocked_ns = calls->blocked_ns - call->blocked_ns;
    end->runnable_ns = calls->runnable_ns - call->runnable_ns;
    end->samples = call->samples + call->waits;
    end->flags = call->wall_epoch && call->wall_epoch == config.wall_epoch ? WIRE_CALL_WATCHED : 0;
    end->marks = call->marks;
    end->label = WIRE_LABEL_NONE;
    end->label_value = 0;
    end->parked_ns = 0;
    end->queued_ns = 0;
}

// The end of a call in which nothing was sampled or traced concerns nobody but the histogram.
static __always_inline bool is_end_wanted(const struct open_call* call) {
    return call->samples || call->waits || call->end_asked;
}

static __always_inline void send_end(struct open_calls* calls) {
    struct wire_call_end* end = &calls->end;
    u64 size = sizeof(*end);

    if (end->label == WIRE_LABEL_STRING)
        size += WIRE_STRING;
    end->event.size = size;
    if (bpf_ringbuf_output(&events, end, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_CALL);
}

// A call ends, or never began, of which nobody knows what it took of the explained one.
static __always_inline void miss_part(struct open_calls* calls) {
    if (calls->explained == EXPLAINED)
        calls->explained = EXPLAINED_INCOMPLETE;
}

// A call ends without that this was seen.
static __always_inline void lose_part(struct open_calls* calls, const struct open_call* call) {
    if (call->state & CALL_WHOLE)
        calls->explained = EXPLAINED_NONE;
    else
        miss_part(calls);
}

// Not static, like `settle` below: the verifier checks such a function once, not at every call.
__noinline int end_unwound(struct open_calls* calls, struct open_call* call, u64 now) {
    struct wire_call_counters* counters;

    if (!calls || !call)
        return 0;
    if (calls->explained)
        lose_part(calls, call);
    if (!is_current(call))
        return 0;
    counters = counters_of(call->spec);
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->unwound, 1);
    __sync_fetch_and_add(&counters->open, -1);
    if (!is_end_wanted(call))
        return 0;
    calls->own_ns_at_end = calls->own_ns;
    fill_end(&calls->end, calls, call, now);
    calls->end.flags |= WIRE_CALL_UNWOUND;
    send_end(calls);
    return 0;
}

static __always_inline void count_duration(struct wire_call_counters* counters,
                                           struct wire_call_histogram* histogram, u64 duration) {
    u32 bucket = wire_histogram_bucket(duration);

    __sync_fetch_and_add(&counters->sum_ns, duration);
    // The compiler knows this, but the verifier forgets it when the duration is put on the stack.
    barrier_var(bucket);
    if (bucket < WIRE_HIST_BUCKETS)
        __sync_fetch_and_add(&histogram->buckets[bucket], 1);
    if (duration < counters->min_ns || !counters->min_ns)
        note_extreme(&counters->min_ns, duration ? duration : 1, true);
    if (duration > counters->max_ns)
        note_extreme(&counters->max_ns, duration, false);
}

// Goroutines have one, which calls know their places on by distances.
static __always_inline bool lies_on_own_stack(struct open_calls* calls, u64 sp) {
    return calls->g || is_on_own_stack(calls, sp);
}

// calls->ending has taken `ns` of the call around it; of one that is not counted that is what calls
// nested in it took. Not where one of them is on another stack: a coroutine's call is suspended
// while others run, and what resumes it has not called it.
static __always_inline void end_nested(struct open_calls* calls, u64 ns) {
    u32 depth = calls->depth;
    struct open_call* around;

    if (!depth || !ns)
        return;
    around = &calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)];
    // It began later: it is what the one that ends has jumped to, and ends just now, too.
    if (around->start_ns > calls->ending.start_ns)
        return;
    if (lies_on_own_stack(calls, around->sp) && lies_on_own_stack(calls, calls->ending.sp))
        around->nested_ns += ns;
}

// A returned call's, beside its duration.
static __always_inline void count_nested(struct wire_call_counters* counters,
                                         const struct open_call* call, u64 duration) {
    if (call->nested_ns)
        __sync_fetch_and_add(&counters->nested_ns,
                             call->nested_ns < duration ? call->nested_ns : duration);
}

// After all else of the call that is counted: who reads looks here first, and at the rest only if
// this has changed (SpecTable::read()).
static __always_inline void count_return(struct wire_call_counters* counters) {
    __sync_fetch_and_add(&counters->open, -1);
    __sync_fetch_and_add(&counters->returns, 1);
}

// How many calls had each of the marks that are counted, and how many had not.
__noinline int count_mark(const struct open_call* call, u32 bit) {
    u64 key = mark_key(call ? call->spec : 0, call ? call->generation : 0, bit);
    struct wire_mark_count* count = bpf_map_lookup_elem(&mark_counts, &key);

    if (!call || !count || call->start_ns < count->since_ns)
        return 0;
    if (call->marks >> (bit & (WIRE_MAX_MARKS - 1)) & 1)
        __sync_fetch_and_add(&count->taken, 1);
    else
        __sync_fetch_and_add(&count->not_taken, 1);
    return 0;
}

__noinline int count_marks(const struct open_call* call, u32 counted) {
    if (!call)
        return 0;
    for (u32 bit = 0; bit < WIRE_MAX_MARKS; bit++) {
        if (!(counted >> bit))
            break;
        if (counted >> bit & 1)
            count_mark(call, bit);
    }
    return 0;
}

#endif
