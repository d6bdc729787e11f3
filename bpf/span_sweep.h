// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Spans that nothing will end: whose time is up, whose process is no more, whose spec is gone. Of
// the call tracker alone.
#ifndef AUGER_SPAN_SWEEP_H
#define AUGER_SPAN_SWEEP_H

#include "exchange_ends.h"
#include "exchange_waits.h"

/* What a sweep looks for. */
struct span_sweep {
    u64 now;
    u64 before_ns; /* spans of `tgid` that began before then are over */
    u32 tgid;      /* 0: of no process */
    u32 padding;
};

/* One element: where a sweep puts together what it tells. Of sweep_spans() alone, which one thread
 * of user space runs. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct open_calls);
} sweep_scratch SEC(".maps");

__noinline int end_expired(struct open_calls* calls, struct span* span, u64 state, u64 now) {
    struct wire_call_counters* counters;
    struct wire_span_counts* counts;

    if (!calls || !span || !take_span_out(calls, span, state, now))
        return 0;
    counters = counters_of(calls->ending.spec);
    counts = span_counts_of(calls->ending.spec);
    if (!counters || !counts || !is_current(&calls->ending))
        return 0;
    __sync_fetch_and_add(&counts->expired, 1);
    __sync_fetch_and_add(&counters->open, -1);
    tell_unended(calls, now);
    return 0;
}

// An exchange whose last send has become known, or that gets no answer.
__noinline int sweep_exchange(struct open_calls* calls, struct span* span,
                              const struct span_sweep* sweep) {
    bool is_over, is_quiet;
    u64 state, sent;

    if (!calls || !span || !sweep)
        return 0;
    state = load_acquire(&span->open.state);
    sent = load_acquire(&span->exchange.sent_ns);
    is_over = span->exchange.closed ||
              (span->open.tgid == sweep->tgid && span->open.start_ns < sweep->before_ns);
    is_quiet =
        span->exchange.quiet_ns && is_idle(span) && sent + span->exchange.quiet_ns <= sweep->now;
    if (!(state & 1))
        return 0;
    if (!is_current(&span->call))
        take_exchange_out(calls, span, state);
    else if (sent && (is_over || is_quiet))
        finish_exchange(calls, span, state, EXCHANGE_ANSWERED);
    else if (is_over)
        finish_exchange(calls, span, state, EXCHANGE_UNANSWERED);
    else if (span->open.expires_ns && span->open.expires_ns <= sweep->now)
        finish_exchange(calls, span, state, EXCHANGE_EXPIRED);
    return 0;
}

static long sweep_span(void* map, struct wire_span_key* key, struct span* span,
                       struct span_sweep* sweep) {
    u32 zero = 0;
    struct open_calls* calls = bpf_map_lookup_elem(&sweep_scratch, &zero);
    u64 state = load_acquire(&span->open.state);

    if (!calls || !(state & 1))
        return 0;
    if (span->open.flags & WIRE_SPAN_IS_EXCHANGE)
        sweep_exchange(calls, span, sweep);
    else if (span->open.tgid == sweep->tgid && span->open.start_ns < sweep->before_ns)
        end_unended(calls, span, state, sweep->now);
    else if (span->open.expires_ns && span->open.expires_ns <= sweep->now)
        end_expired(calls, span, state, sweep->now);
    else if (!is_current(&span->call))
        take_span_out(calls, span, state, sweep->now);
    return 0;
}

#endif
