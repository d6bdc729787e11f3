// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The end of a call, as it is told: its duration, and the event where somebody wants it. Of the
// call tracker alone.
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
}

// The end of a call in which nothing was sampled or traced concerns nobody but the histogram.
static __always_inline bool is_end_wanted(const struct open_call* call) {
    return call->samples || call->waits || call->traced_inside;
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

// Not static, like `settle` below: the verifier checks such a function once, not at every call.
__noinline int end_unwound(struct open_calls* calls, struct open_call* call, u64 now) {
    struct wire_call_counters* counters;

    if (!calls || !call || !is_current(call))
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

#endif
