// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// When a thread works for an exchange no longer, though that has not ended. Of the call tracker and
// its sweep alone.
#ifndef AUGER_EXCHANGE_WAITS_H
#define AUGER_EXCHANGE_WAITS_H

#include "span_points.h"

// What a loop has done since it slept until there are events: where there are some already it does
// not sleep.
enum turn {
    TURN_TOOK_UP = 1, /* it has taken up an exchange, and sent nothing since */
    TURN_IS_UNSETTLED =
        2, /* ... and another one upon that: it is not known for whom it sends what */
};

static __always_inline void note_take_up(struct open_calls* calls, u64 cookie) {
    calls->taken_up = cookie;
    calls->turn |= calls->turn & TURN_TOOK_UP ? TURN_IS_UNSETTLED : TURN_TOOK_UP;
}

static __always_inline void note_that_it_sends(struct open_calls* calls) {
    calls->turn &= ~TURN_TOOK_UP;
}

// Whether the thread has something to leave when it waits.
static __always_inline bool is_in_turn(const struct open_calls* calls) {
    return calls->attached || calls->turn;
}

// Whether the goroutine waits for the network, whence it is asked next, or is gone.
static __always_inline bool waits_for_network(const struct span* span) {
    struct goroutine_key worker = {.g = span->g, .tgid = span->open.tgid};
    const struct goroutine_work* work = bpf_map_lookup_elem(&goroutine_spans, &worker);

    return !work || work->only_helps ||
           (is_off_thread(&work->away) && work->away.reason == WIRE_GO_IO_WAIT);
}

// Whether nobody works for it any more, so that what is sent after a while is something else. What
// became of the thread says nothing of a goroutine.
static __always_inline bool is_idle(const struct span* span) {
    if (span->g && span->go_epoch && span->go_epoch == config.go_epoch)
        return waits_for_network(span);
    return span->exchange.idle || !span->open.attached_since_ns;
}

__noinline int leave_if_exchange(struct open_calls* calls, struct attached_span* attached,
                                 u64 now) {
    struct span* span = calls && attached ? attached_span(attached) : NULL;

    if (span && (span->open.flags & WIRE_SPAN_IS_EXCHANGE))
        detach_span(calls, attached, now);
    return 0;
}

__noinline int note_if_idle(const struct attached_span* attached, u32 fd, bool for_events) {
    struct span* span = attached ? attached_span(attached) : NULL;

    if (span && (span->open.flags & WIRE_SPAN_IS_EXCHANGE))
        span->exchange.idle = for_events || (fd != NO_FD && fd == span->exchange.fd);
    return 0;
}

// The thread waits: for what comes next on a connection, or for something else.
__noinline int note_idle_exchanges(struct open_calls* calls, u32 fd, bool for_events) {
    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        note_if_idle(&calls->spans.of[i], fd, for_events);
    return 0;
}

__noinline int leave_exchanges(struct open_calls* calls, u64 now) {
    if (!calls)
        return 0;
    keep_tracepoints_out(calls);
    note_own_time(calls);
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        leave_if_exchange(calls, &calls->spans.of[i], now);
    let_tracepoints_in(calls);
    return 0;
}

#endif
