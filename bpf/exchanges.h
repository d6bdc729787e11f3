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
//
// begins = entries = returns + unwound (closed unanswered) + expired + open + dropped + filtered
// (ambiguous).
#ifndef AUGER_EXCHANGES_H
#define AUGER_EXCHANGES_H

#include "connections.h"
#include "gate.h"
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
        attached = &calls->spans[place & (WIRE_ATTACHED_SPANS - 1)];
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
    if (span->open.flags & WIRE_SPAN_UNWATCHED)
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

// Whether nobody works for it any more, so that what is sent after a while is something else.
static __always_inline bool is_idle(const struct span* span) {
    return span->exchange.idle || !span->open.attached_since_ns;
}

// What is known of the connection that makes its exchanges ambiguous; WIRE_AMBIGUITIES: nothing.
static __always_inline u32 ambiguity_of(const struct connection* connection, u32 index) {
    if (connection->facts & SPEAKS_TLS)
        return WIRE_AMBIGUOUS_TLS;
    if (connection->facts & SPEAKS_HTTP2)
        return WIRE_AMBIGUOUS_HTTP2;
    if ((connection->facts & SPOKE_FIRST) || (connection->unasked >> index & 1))
        return WIRE_AMBIGUOUS_UNASKED;
    if (connection->phase == PHASE_SENT && !connection->turn)
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

// The thread takes up an exchange: has it answered the one that it works for?
static __always_inline void note_interleaving(struct open_calls* calls, u64 name) {
    u32 place = find_attached(calls, name);
    struct span* span;

    if (place >= WIRE_ATTACHED_SPANS)
        return;
    span = attached_span(&calls->spans[place & (WIRE_ATTACHED_SPANS - 1)]);
    if (span && !span->exchange.sent_ns && !span->exchange.closed)
        calls->interleaves = 1;
}

static __always_inline u32 receiving_fd(void) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());

    return receives(regs) ? syscall_argument(regs) : NO_FD;
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
    if (span)
        finish_exchange(calls, span, state, EXCHANGE_ANSWERED);
    counters = counters_of(key.spec);
    if (!counters)
        return 0;
    __sync_fetch_and_add(&counters->entries, 1);
    cause = ambiguity_of(connection, index);
    if (cause != WIRE_AMBIGUITIES) {
        count_ambiguous(counters, key.spec, cause);
        return 0;
    }
    note_interleaving(calls, name_of_spec(key.spec, key.generation));
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
    if (arrived)
        attach_span(calls, span, state, now);
    return 0;
}

// The thread works for the exchange, whose sums are those up to now.
static __always_inline void work_on(struct open_calls* calls, struct span* span, u64 state,
                                    u64 now) {
    struct wire_span_key key = span->open.key;
    u32 place = find_attached(calls, name_of_spec(key.spec, key.generation));
    struct attached_span* attached = &calls->spans[place & (WIRE_ATTACHED_SPANS - 1)];

    if (place >= WIRE_ATTACHED_SPANS || attached->state != state ||
        span->open.tid != attached->tid) {
        attach_span(calls, span, state, now);
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
        calls->spans[place & (WIRE_ATTACHED_SPANS - 1)].state != state)
        attach_span(calls, span, state, now);
    return 0;
}

// Until here what the thread has done was for the exchange.
static __always_inline void note_send(const struct open_calls* calls, struct span* span, u64 now) {
    struct exchange* exchange = &span->exchange;
    struct gate_thread thread;

    exchange->attached_ns = span->open.attached_ns;
    exchange->blocked_ns = span->open.blocked_ns;
    exchange->runnable_ns = span->open.runnable_ns;
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
    if ((facts & SEND_GOES_ON) && !connection->behind &&
        now - connection->sent_ns >= exchanges->quiet_ns && (!span || is_idle(span)))
        facts |= SEND_IS_UNASKED;
    if (facts & SEND_IS_UNASKED) {
        if (span)
            finish_exchange(calls, span, state, EXCHANGE_ANSWERED);
        // Of a connection that is known for that each answer counts once, where it begins.
        connection->unasked |= 1u << (index & (WIRE_MAX_EXCHANGES - 1));
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

// The open calls of a thread that is observed.
static __always_inline struct open_calls* calls_of_thread(struct task_struct* task) {
    struct open_calls* calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    u32 scope = *(volatile u32*)&config.scope; // as in calls_of_observed()

    if (calls && scope && calls->scope == scope)
        return calls;
    if (!is_observed(task->tgid, task->pid))
        return NULL;
    if (!calls)
        calls = bpf_task_storage_get(&open_calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (calls)
        calls->scope = scope;
    else
        count_loss(WIRE_LOSS_STORAGE);
    return calls;
}

static __always_inline void receive(struct sock* sk, u32 received) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct connection* connection;
    struct open_calls* calls;
    struct tcp_sock* tcp;
    u32 exchanges;
    u64 cookie, now;
    bool begins;

    exchanges = all ? exchanges_of_socket(all, sk) : 0;
    if (!exchanges)
        return;
    calls = calls_of_thread(bpf_get_current_task_btf());
    tcp = bpf_skc_to_tcp_sock(sk);
    if (!calls || !tcp)
        return;
    connection = bpf_sk_storage_get(&connections, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!connection) {
        count_loss(WIRE_LOSS_STORAGE);
        return;
    }
    if (connection->epoch != all->epoch)
        begin_connection(connection, tcp, all->epoch, received);
    if (connection->facts & CONNECTED)
        return;
    now = bpf_ktime_get_ns();
    cookie = bpf_get_socket_cookie(sk);
    note_own_time(calls);
    begins = connection->phase != PHASE_RECEIVED;
    if (connection->phase == PHASE_NEW)
        connection->facts |= facts_of_first_bytes(received);
    keep_tracepoints_out(calls);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (!(exchanges >> i & 1))
            continue;
        if (begins)
            begin_exchange(calls, connection, i, cookie, now);
        else
            go_on_with_exchange(calls, i, cookie, now);
    }
    let_tracepoints_in(calls);
    connection->phase = PHASE_RECEIVED;
    connection->written = tcp->write_seq;
    connection->turn = 0;
    connection->arrived_ns = 0;
}

static __always_inline void send(struct sock* sk, u32 sent) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct connection* connection;
    struct open_calls* calls;
    u32 exchanges, facts = 0;
    struct tcp_sock* tcp;
    u64 cookie, now;

    exchanges = all ? exchanges_of_socket(all, sk) : 0;
    if (!exchanges)
        return;
    calls = calls_of_thread(bpf_get_current_task_btf());
    tcp = bpf_skc_to_tcp_sock(sk);
    if (!calls || !tcp)
        return;
    connection = bpf_sk_storage_get(&connections, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!connection) {
        count_loss(WIRE_LOSS_STORAGE);
        return;
    }
    if (connection->epoch != all->epoch)
        begin_connection(connection, tcp, all->epoch, 0);
    if (connection->facts & CONNECTED)
        return;
    now = bpf_ktime_get_ns();
    cookie = bpf_get_socket_cookie(sk);
    note_own_time(calls);
    if (connection->phase == PHASE_NEW) {
        connection->facts |= SPOKE_FIRST;
        facts = SEND_IS_UNASKED;
    }
    if (connection->phase == PHASE_SENT)
        facts |= SEND_GOES_ON;
    if (connection->facts & JOINED_LATE)
        facts |= SEND_IS_UNCLEAR;
    if (has_unread(sk, tcp) && !connection->turn)
        facts |= SEND_IS_EARLY;
    if ((int)(tcp->write_seq - tcp->snd_una - sent) > BEHIND_BYTES)
        facts |= SEND_IS_BEHIND;
    keep_tracepoints_out(calls);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (exchanges >> i & 1)
            answer_exchange(calls, connection, facts | i << SEND_FACT_BITS, cookie, now);
    }
    let_tracepoints_in(calls);
    connection->facts &= ~JOINED_LATE;
    connection->phase = PHASE_SENT;
    connection->behind = (facts & SEND_IS_BEHIND) != 0;
    connection->sent_ns = now;
}

// Something has come, in an interrupt mostly. It is the peer's turn when it has all that was sent,
// and something was sent since it was heard of.
static __always_inline void arrive(struct sock* sk) {
    struct connection* connection = bpf_sk_storage_get(&connections, sk, NULL, 0);
    struct tcp_sock* tcp;

    if (!connection || connection->turn || (connection->facts & CONNECTED))
        return;
    tcp = bpf_skc_to_tcp_sock(sk);
    if (!tcp || tcp->snd_una != tcp->write_seq)
        return;
    if (connection->phase == PHASE_RECEIVED && connection->written == tcp->write_seq)
        return;
    connection->arrived_ns = bpf_ktime_get_ns();
    connection->turn = 1;
}

// A connection's state changes, in an interrupt perhaps: nothing of the current thread's is at
// hand.
static __always_inline void change_state(struct sock* sk, int before, int after) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct connection* connection;
    struct tcp_sock* tcp;
    u32 exchanges;
    u64 cookie;

    exchanges = all ? exchanges_of_socket(all, sk) : 0;
    if (!exchanges)
        return;
    if (before == TCP_STATE_SYN_RECEIVED && after == TCP_STATE_ESTABLISHED) {
        tcp = bpf_skc_to_tcp_sock(sk);
        connection =
            tcp ? bpf_sk_storage_get(&connections, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) : NULL;
        if (connection && connection->epoch != all->epoch)
            begin_connection(connection, tcp, all->epoch, received_bytes(tcp));
        return;
    }
    if (after != TCP_STATE_FIN_WAIT_1 && after != TCP_STATE_LAST_ACK && after != TCP_STATE_CLOSE)
        return;
    connection = bpf_sk_storage_get(&connections, sk, NULL, 0);
    if (!connection)
        return;
    cookie = bpf_get_socket_cookie(sk);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (exchanges >> i & 1)
            close_exchange(i, cookie);
    }
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
        note_if_idle(&calls->spans[i], fd, for_events);
    return 0;
}

__noinline int leave_exchanges(struct open_calls* calls, u64 now) {
    if (!calls)
        return 0;
    note_own_time(calls);
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        leave_if_exchange(calls, &calls->spans[i], now);
    return 0;
}

#endif
