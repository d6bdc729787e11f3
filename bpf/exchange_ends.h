// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What is counted and told of an exchange that has ended. Of the call tracker alone.
//
// begins = entries = returns + unwound (closed unanswered) + expired + open + dropped + filtered
// (ambiguous).
#ifndef AUGER_EXCHANGE_ENDS_H
#define AUGER_EXCHANGE_ENDS_H

#include "span_points.h"

enum exchange_end {
    EXCHANGE_ANSWERED,
    EXCHANGE_UNANSWERED,
    EXCHANGE_EXPIRED,
    EXCHANGE_AMBIGUOUS,
};

// Makes the exchange calls->ending, as it was when something was sent the last time, and takes its
// element out. 0: another CPU did.
__noinline int take_exchange_out(struct open_calls* calls, struct span* span, u64 state) {
    struct attached_span* attached;
    struct wire_span_key key;
    struct exchange* exchange;
    struct open_call* ending;
    u32 place;

    if (!calls || !span)
        return 0;
    key = span->open.key;
    if (__sync_val_compare_and_swap(&span->open.state, state, state - 1) != state)
        return 0;
    place = find_attached(calls, name_of_spec(key.spec, key.generation));
    if (place < WIRE_ATTACHED_SPANS) {
        attached = &calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)];
        if (attached->state == state)
            forget_attached(calls, attached);
    }
    calls->exchange = span->exchange;
    exchange = &calls->exchange;
    ending = &calls->ending;
    *ending = span->call;
    // What sampling took is in its duration: the peer has waited for that, too.
    ending->own_ns = calls->own_ns_at_end;
    ending->blocked_ns = calls->blocked_ns - exchange->blocked_ns;
    ending->runnable_ns = calls->runnable_ns - exchange->runnable_ns;
    ending->longest_wait = exchange->longest_wait;
    ending->marks = exchange->marks;
    if (!note_goroutine_times(calls, span, &exchange->of_goroutine,
                              exchange->sent_ns && !exchange->others_send) &&
        (span->open.flags & WIRE_SPAN_UNWATCHED))
        ending->wall_epoch = 0;
    calls->span_end.queued_ns = span->open.queued_ns;
    calls->span_end.attached_ns = exchange->attached_ns;
    calls->span_end.tgid = exchange->sent_ns ? exchange->tgid : span->open.tgid;
    calls->span_end.tid = exchange->sent_ns ? exchange->tid : span->open.tid;
    bpf_map_delete_elem(&spans, &key);
    return 1;
}

static __always_inline void count_ambiguous(struct wire_call_counters* counters, u32 spec,
                                            u32 cause) {
    struct wire_span_counts* counts = span_counts_of(spec);

    __sync_fetch_and_add(&counters->filtered, 1);
    if (counts && cause < WIRE_AMBIGUITIES)
        __sync_fetch_and_add(&counts->ambiguous[cause], 1);
}

static __always_inline void count_answered(struct open_calls* calls,
                                           struct wire_call_counters* counters, u64 duration) {
    struct wire_call_histogram* histogram = histogram_of(calls->ending.spec);
    u32 index = calls->ending.spec;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);
    u64 slow_ns;

    if (!histogram || !spec)
        return;
    count_duration(counters, histogram, duration);
    count_span_times(calls, index);
    if (spec->counted_marks)
        count_marks(&calls->ending, spec->counted_marks);
    count_return(counters);
    slow_ns = *(volatile u64*)&spec->slow_ns; // which an edit may change at any time
    if (!(spec->flags & WIRE_SPEC_TRACE_SLOW) || duration <= slow_ns)
        return;
    calls->threshold_ns = slow_ns;
    calls->end.flags |= WIRE_CALL_SLOW;
}

// Ends it, if nobody else has. `how`: exchange_end; of an ambiguous one with the cause above it.
__noinline int finish_exchange(struct open_calls* calls, struct span* span, u64 state, u32 how) {
    struct wire_call_counters* counters;
    struct wire_span_counts* counts;
    struct wire_call_end* end;
    u32 cause = how >> 8;
    u64 now;

    if (!calls || !span || !take_exchange_out(calls, span, state))
        return 0;
    counters = counters_of(calls->ending.spec);
    if (!counters || !is_current(&calls->ending))
        return 0;
    now = calls->exchange.sent_ns;
    if (!now) {
        now = bpf_ktime_get_ns();
        if (how == EXCHANGE_ANSWERED)
            how = EXCHANGE_UNANSWERED;
    }
    end = &calls->end;
    fill_end(end, calls, &calls->ending, now);
    note_span_times(calls, end->duration_ns);
    add_span_times(end, calls);
    end->event.pid = calls->span_end.tgid;
    end->event.tid = calls->span_end.tid;
    switch (how & 0xff) {
    case EXCHANGE_ANSWERED:
        count_answered(calls, counters, end->duration_ns);
        break;
    case EXCHANGE_UNANSWERED:
        __sync_fetch_and_add(&counters->unwound, 1);
        __sync_fetch_and_add(&counters->open, -1);
        end->flags |= WIRE_CALL_UNWOUND;
        break;
    case EXCHANGE_EXPIRED:
        counts = span_counts_of(calls->ending.spec);
        if (counts)
            __sync_fetch_and_add(&counts->expired, 1);
        __sync_fetch_and_add(&counters->open, -1);
        end->flags |= WIRE_CALL_UNWOUND;
        break;
    default:
        count_ambiguous(counters, calls->ending.spec, cause);
        __sync_fetch_and_add(&counters->open, -1);
        end->flags |= WIRE_CALL_FILTERED;
    }
    if (is_end_wanted(&calls->ending))
        send_end(calls);
    if (end->flags & WIRE_CALL_SLOW)
        trace_slow_exchange(calls);
    return 0;
}

#endif
