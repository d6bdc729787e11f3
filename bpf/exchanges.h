// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Exchanges: spans that begin where something is received on an accepted connection upon which
// something was sent last, and that end with the last send before the next receive. Of the call
// tracker alone.
//
// That a send was the last one is known later: at the next receive, when the connection is closed,
// or when nothing has been sent for a while. So each send notes how things are (`exchange`), and
// what came behind the last one is taken back: an exchange's duration is that from its beginning to
// its last send, whenever that becomes known. Samples say when they were taken; user space leaves
// those out that came later.
#ifndef AUGER_EXCHANGES_H
#define AUGER_EXCHANGES_H

#include "connections.h"
#include "exchange_ends.h"
#include "exchange_waits.h"
#include "gate.h"

// What is known of the connection that makes its exchanges ambiguous; WIRE_AMBIGUITIES: nothing.
static __always_inline u32 ambiguity_of(const struct connection* connection, u32 index,
                                        u32 generation) {
    if (connection->facts & SPEAKS_TLS)
        return WIRE_AMBIGUOUS_TLS;
    if (connection->facts & SPEAKS_HTTP2)
        return WIRE_AMBIGUOUS_HTTP2;
    if ((connection->facts & SPOKE_FIRST) ||
        connection->unasked[index & (WIRE_MAX_EXCHANGES - 1)] == (u16)generation)
        return WIRE_AMBIGUOUS_UNASKED;
    if (connection->phase == PHASE_SENT && !connection->turn &&
        !(connection->facts & SPEAKS_FASTCGI))
        return WIRE_AMBIGUOUS_EARLY;
    return WIRE_AMBIGUITIES;
}

// The span that stands there, when it is in force; its spec in *spec.
static __always_inline const struct wire_exchanges*
exchanges_in_force(u32 index, struct wire_spec** spec, struct wire_span_key* key, u64 cookie) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct wire_exchanges* exchanges;
    u32 spec_index;

    if (!all)
        return NULL;
    exchanges = &all->of[index & (WIRE_MAX_EXCHANGES - 1)];
    key->key = cookie;
    key->tgid = 0;
    key->spec = exchanges->spec;
    key->generation = exchanges->generation;
    spec_index = key->spec;
    *spec = bpf_map_lookup_elem(&specs, &spec_index);
    if (!*spec || (u16)(*spec)->generation != key->generation ||
        !((*spec)->flags & WIRE_SPEC_ENABLED))
        return NULL;
    return exchanges;
}

static __always_inline u32 receiving_fd(void) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());

    return receives(regs) ? syscall_argument(regs) : NO_FD;
}

// The thread takes up an exchange: has it answered the one that it works for? One whose descriptor
// is this connection's now has been closed, which nobody tells of a unix socket.
static __always_inline void note_interleaving(struct open_calls* calls, u64 name, u32 fd) {
    u32 place = find_attached(calls, name);
    struct span* span;

    if (place >= WIRE_ATTACHED_SPANS)
        return;
    span = attached_span(&calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)]);
    if (!span || span->exchange.sent_ns || span->exchange.closed)
        return;
    if (fd != NO_FD && fd == span->exchange.fd)
        span->exchange.closed = 1;
    else
        calls->interleaves = 1;
}

// Who has answered, of the current process.
static __always_inline void note_sender(struct span* span) {
    struct exchange* exchange = &span->exchange;
    struct gate_thread thread;

    exchange->marks = span->call.marks;
    exchange->longest_wait = span->call.longest_wait;
    exchange->tid = span->open.tid;
    exchange->tgid = span->open.tgid;
    bpf_get_current_comm(exchange->comm, sizeof(exchange->comm));
    if (gate_in_force(WIRE_GATE_ONLY) != NO_GATE) {
        describe_thread(bpf_get_current_task_btf(), &thread);
        exchange->cgroup = thread.cgroup;
    }
    span->open.flags |= WIRE_SPAN_IS_ANSWERED;
}

// Whether the goroutine that works for it is on a thread, as far as is known.
static __always_inline bool is_on_thread(const struct span* span) {
    struct goroutine_key worker = {.g = span->g, .tgid = span->open.tgid};
    const struct goroutine_work* work = bpf_map_lookup_elem(&goroutine_spans, &worker);

    return work && !is_off_thread(&work->away);
}

// The answer is still being sent, and the peer has asked again upon it at `arrived`. What its
// thread does is not at hand.
static __always_inline void note_unseen_send(struct span* span, u64 arrived) {
    struct exchange* exchange = &span->exchange;

    exchange->attached_ns = span->open.attached_ns;
    if (span->open.attached_since_ns && arrived > span->open.attached_since_ns)
        exchange->attached_ns += arrived - span->open.attached_since_ns;
    span->open.flags |= WIRE_SPAN_UNWATCHED;
    exchange->of_goroutine = span->of_goroutine;
    exchange->others_send = !is_on_thread(span);
    note_sender(span);
    store_release(&exchange->sent_ns, arrived);
}

// Something is received with which an exchange begins.
__noinline int begin_exchange(struct open_calls* calls, const struct connection* connection,
                              u32 index, u64 cookie, u64 now) {
    const struct wire_exchanges* exchanges;
    struct wire_call_counters* counters;
    struct wire_span_key key;
    struct wire_spec* spec;
    struct span* span;
    u64 state, arrived;
    u32 cause;

    if (!calls || !connection)
        return 0;
    exchanges = exchanges_in_force(index, &spec, &key, cookie);
    if (!exchanges)
        return 0;
    span = find_span(&key, &state);
    if (span && connection->phase == PHASE_RECEIVED)
        note_unseen_send(span, connection->arrived_ns);
    if (span)
        finish_exchange(calls, span, state, EXCHANGE_ANSWERED);
    counters = counters_of(key.spec);
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->entries, 1);
    cause = ambiguity_of(connection, index, key.generation);
    if (cause != WIRE_AMBIGUITIES) {
        count_ambiguous(counters, key.spec, cause);
        return 0;
    }
    note_interleaving(calls, name_of_spec(key.spec, key.generation), receiving_fd());
    arrived = connection->arrived_ns;
    if (!enter_span(calls, false, &key, spec->limit_ns, arrived ? WIRE_SPAN_QUEUED : 0,
                    exchanges->quiet_ns, arrived ? arrived : now)) {
        __sync_fetch_and_add(&counters->dropped, 1);
        return 0;
    }
    __sync_fetch_and_add(&counters->open, 1);
    span = find_span(&key, &state);
    if (!span)
        return 0;
    span->exchange.fd = receiving_fd();
    span->exchange.ahead = connection->received == 1;
    if (arrived)
        attach_span(calls, span, state, now, 0);
    return 0;
}

// Another goroutine than the one that read ahead takes it up: it was queued until now.
__noinline int take_up_anew(struct open_calls* calls, struct span* span, u64 now) {
    static const struct goroutine_times none;
    struct wire_span* open;

    if (!calls || !span)
        return 0;
    open = &span->open;
    detach_spans_of(calls, name_of_spec(open->key.spec, open->key.generation), now);
    open->queued_ns = now - open->start_ns;
    open->attached_ns = open->blocked_ns = open->runnable_ns = open->own_ns = 0;
    open->attached_since_ns = 0;
    open->flags &= ~WIRE_SPAN_UNWATCHED;
    span->of_goroutine = none;
    return 0;
}

// The thread works for the exchange, whose sums are those up to now.
static __always_inline void work_on(struct open_calls* calls, struct span* span, u64 state,
                                    u64 now) {
    struct wire_span_key key = span->open.key;
    u32 place = find_attached(calls, name_of_spec(key.spec, key.generation));
    struct attached_span* attached = &calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)];

    if (place >= WIRE_ATTACHED_SPANS || attached->state != state ||
        span->open.tid != attached->tid || !is_with_worker(span, state)) {
        attach_span(calls, span, state, now, 1);
        return;
    }
    add_attached_time(calls, attached, &span->open, now);
    note_totals(calls, attached, now);
    span->open.attached_since_ns = now;
}

// Something more of what is asked is received.
__noinline int go_on_with_exchange(struct open_calls* calls, u32 index, u64 cookie, u64 now) {
    struct wire_span_key key;
    struct wire_spec* spec;
    struct span* span;
    u64 state;
    u32 place;

    if (!calls || !exchanges_in_force(index, &spec, &key, cookie))
        return 0;
    span = find_span(&key, &state);
    if (!span)
        return 0;
    span->exchange.fd = receiving_fd();
    place = find_attached(calls, name_of_spec(key.spec, key.generation));
    if (place >= WIRE_ATTACHED_SPANS ||
        calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)].state != state ||
        !is_with_worker(span, state)) {
        // As Go's net/http does, which notices so that a client is gone.
        if (span->exchange.ahead && span->g && !span->exchange.sent_ns &&
            !is_with_worker(span, state))
            take_up_anew(calls, span, now);
        attach_span(calls, span, state, now, 0);
    }
    span->exchange.ahead = 0;
    return 0;
}

// Until here what the thread has done was for the exchange.
static __always_inline void note_send(const struct open_calls* calls, struct span* span, u64 now) {
    struct exchange* exchange = &span->exchange;

    exchange->attached_ns = span->open.attached_ns;
    exchange->blocked_ns = span->open.blocked_ns;
    exchange->runnable_ns = span->open.runnable_ns;
    exchange->of_goroutine = span->of_goroutine;
    exchange->others_send = span->g && span->g != current_worker();
    note_sender(span);
    store_release(&exchange->sent_ns, now);
}

enum send_fact {
    SEND_IS_EARLY = 1,   /* something had come that nobody has received */
    SEND_IS_UNCLEAR = 2, /* what it is an answer to was before auger */
    SEND_IS_UNASKED = 4, /* nothing has ever been received */
    SEND_IS_BEHIND = 8,  /* as connection.behind */
    SEND_GOES_ON = 16,   /* something was sent before, and nothing received since */
    SEND_FACT_BITS = 8,
};

// Something is sent: `facts` send_fact, and the index of the exchange span.
__noinline int answer_exchange(struct open_calls* calls, struct connection* connection, u32 facts,
                               u64 cookie, u64 now) {
    u32 index = facts >> SEND_FACT_BITS;
    const struct wire_exchanges* exchanges;
    struct wire_call_counters* counters;
    struct wire_span_key key;
    struct wire_spec* spec;
    struct span* span;
    u64 state;

    if (!calls || !connection)
        return 0;
    exchanges = exchanges_in_force(index, &spec, &key, cookie);
    counters = counters_of(key.spec);
    if (!exchanges || !counters)
        return 0;
    span = find_span(&key, &state);
    // Counted when it began.
    if (!span && (connection->facts & (SPEAKS_TLS | SPEAKS_HTTP2)))
        return 0;
    if ((facts & SEND_GOES_ON) && !connection->behind &&
        now - connection->sent_ns >= exchanges->quiet_ns && (!span || is_idle(span)))
        facts |= SEND_IS_UNASKED;
    if (facts & SEND_IS_UNASKED) {
        if (span)
            finish_exchange(calls, span, state, EXCHANGE_ANSWERED);
        // Of a connection that is known for that each answer counts once, where it begins.
        connection->unasked[index & (WIRE_MAX_EXCHANGES - 1)] = key.generation;
        __sync_fetch_and_add(&counters->entries, 1);
        count_ambiguous(counters, key.spec, WIRE_AMBIGUOUS_UNASKED);
        return 0;
    }
    if (!span) {
        if (facts & SEND_IS_UNCLEAR)
            count_stray(key.spec);
        return 0;
    }
    if (facts & SEND_IS_EARLY) {
        finish_exchange(calls, span, state, EXCHANGE_AMBIGUOUS | WIRE_AMBIGUOUS_EARLY << 8);
        return 0;
    }
    // A sweep may have taken it out meanwhile, and its element be another's; or another thread has
    // received since what the next one began with.
    if (load_acquire(&span->open.state) != state ||
        (connection->late && span->open.start_ns + span->open.queued_ns > now))
        return 0;
    work_on(calls, span, state, now);
    span->exchange.idle = 0;
    span->exchange.quiet_ns = facts & SEND_IS_BEHIND ? 0 : exchanges->quiet_ns;
    note_send(calls, span, now);
    return 0;
}

// Nothing more can be sent on the connection.
__noinline int close_exchange(u32 index, u64 cookie) {
    struct wire_span_key key;
    struct wire_spec* spec;
    struct span* span;
    u64 state;

    if (!exchanges_in_force(index, &spec, &key, cookie))
        return 0;
    span = find_span(&key, &state);
    if (span)
        span->exchange.closed = 1;
    return 0;
}

#endif
