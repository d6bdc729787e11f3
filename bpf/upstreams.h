// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Upstream connections: those that the target has made, by which an event loop asks another server
// for what an exchange needs. When something is received there, the thread works for the exchange
// that asked. Of the call tracker alone.
//
// That is known while one of the exchanges that have asked there has not answered since: as on the
// connections of a pool, each of which one exchange has at a time. Where there are several, as on
// one that all share, nobody can tell whose answer it is, and the thread works for none of them.
// Threads that serve a connection each, and goroutines, need none of this.
#ifndef AUGER_UPSTREAMS_H
#define AUGER_UPSTREAMS_H

#include "call_owners.h"
#include "connections.h"
#include "span_points.h"

enum { UPSTREAM_ASKING = 8 };

/* An exchange that asks: one for which the thread worked when it sent something. */
struct asking_exchange {
    struct wire_span_key key;
    u64 state; /* of its span; 0: there is none */
    u64 asked_ns;
};

struct upstream {
    u64 epoch;    /* of wire_exchange_spans; another one: nothing of this is true any more */
    u32 connects; /* 1: nothing has been sent on it since it was made for an exchange */
    u32 next;     /* which one goes when there are too many */
    u64 crowded;  /* 1: there were, and ever since one at least has been open */
    struct asking_exchange of[UPSTREAM_ASKING];
};

/* Made and written by the tracker alone; gone with the socket. */
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct upstream);
} upstreams SEC(".maps");

/* A socket that was connected to somewhere: its port was chosen for it, or it has no path. */
static __always_inline bool was_connected(struct sock* sk) {
    const struct inet_bind_bucket* port;
    const struct unix_sock* local;
    const struct tcp_sock* tcp;

    if (sk->__sk_common.skc_family == FAMILY_UNIX) {
        local = bpf_skc_to_unix_sock(sk);
        return local && sk->sk_type == SOCKET_STREAM && !local->addr;
    }
    tcp = bpf_skc_to_tcp_sock(sk);
    if (!tcp)
        return false;
    port = tcp->inet_conn.icsk_bind_hash;
    return !port || port->fastreuse < 0;
}

/* 1: the thread works for an exchange there. */
__noinline int is_exchange_attached(const struct attached_span* attached) {
    struct span* span = attached ? attached_span(attached) : NULL;

    return span && (span->open.flags & WIRE_SPAN_IS_EXCHANGE);
}

static __always_inline bool works_for_exchange(const struct open_calls* calls) {
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_exchange_attached(&calls->spans.of[i]))
            return true;
    }
    return false;
}

/* The span of the exchange that asked, as long as it is open; its state in *state. */
static __always_inline struct span* asking_span(const struct asking_exchange* asking, u64* state) {
    /* Old verifiers take keys from the stack and from maps only. */
    struct wire_span_key key = asking->key;
    struct span* span;

    if (!asking->state)
        return NULL;
    span = find_span(&key, state);
    return span && *state == asking->state ? span : NULL;
}

__noinline int is_asking(const struct asking_exchange* asking) {
    u64 state;

    return asking && asking_span(asking, &state) != NULL;
}

/* The place of the exchange with this state, or else one that is free; UPSTREAM_ASKING: there is
 * none. */
__noinline u32 find_asking(const struct upstream* upstream, u64 state) {
    u32 free = UPSTREAM_ASKING;

    if (!upstream)
        return free;
    for (u32 i = 0; i < UPSTREAM_ASKING; i++) {
        if (upstream->of[i].state == state)
            return i;
        if (free == UPSTREAM_ASKING && !is_asking(&upstream->of[i]))
            free = i;
    }
    return free;
}

__noinline int note_asking(struct upstream* upstream, const struct attached_span* attached,
                           u64 now) {
    struct asking_exchange* asking;
    u32 place;

    if (!upstream || !attached || !is_exchange_attached(attached))
        return 0;
    place = find_asking(upstream, attached->state);
    if (place >= UPSTREAM_ASKING) {
        place = upstream->next++;
        upstream->crowded = 1;
    }
    asking = &upstream->of[place & (UPSTREAM_ASKING - 1)];
    asking->state = 0;
    barrier();
    asking->key = attached->key;
    asking->asked_ns = now;
    barrier();
    asking->state = attached->state;
    return 0;
}

static __always_inline void note_all_asking(struct upstream* upstream,
                                            const struct open_calls* calls) {
    u64 now = bpf_ktime_get_ns();
    bool asking = false;

    for (u32 i = 0; i < UPSTREAM_ASKING; i++)
        asking |= is_asking(&upstream->of[i]);
    if (!asking)
        upstream->crowded = 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        note_asking(upstream, &calls->spans.of[i], now);
}

/* Of an exchange of this name: 0: it is over, or another one's; 1: it has answered since it asked,
 * and may go on answering; 2: it has not. */
__noinline int waits_for_upstream(const struct asking_exchange* asking, u64 name) {
    struct span* span;
    u64 state;

    if (!asking || name_of_spec(asking->key.spec, asking->key.generation) != name)
        return 0;
    span = asking_span(asking, &state);
    if (!span)
        return 0;
    return span->exchange.sent_ns < asking->asked_ns ? 2 : 1;
}

/* Of the exchanges of this name the only one that waits for what is received; UPSTREAM_ASKING:
 * nobody can tell. */
__noinline u32 find_who_waits(const struct upstream* upstream, u64 name) {
    u32 found = UPSTREAM_ASKING, others = 0;
    int most = 0;

    if (!upstream || upstream->crowded)
        return UPSTREAM_ASKING;
    for (u32 i = 0; i < UPSTREAM_ASKING; i++) {
        int waits = waits_for_upstream(&upstream->of[i], name);

        if (waits > most) {
            most = waits;
            found = i;
            others = 0;
        } else if (waits && waits == most)
            others++;
    }
    return others ? UPSTREAM_ASKING : found;
}

/* The loop goes on with an exchange that it has left. Another thread that serves one keeps it. */
__noinline int go_on_with_asking(struct open_calls* calls, const struct asking_exchange* asking,
                                 u64 now) {
    struct wire_span_key key;
    struct span* span;
    u64 state;
    u32 place;

    if (!calls || !asking)
        return 0;
    span = asking_span(asking, &state);
    if (!span || span->g || span->open.tid != (u32)bpf_get_current_pid_tgid())
        return 0;
    span->exchange.idle = 0;
    key = asking->key;
    place = find_attached(calls, name_of_spec(key.spec, key.generation));
    if (place >= WIRE_ATTACHED_SPANS ||
        calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)].state != state)
        attach_span(calls, span, state, now, 0);
    return 0;
}

__noinline int go_on_with_one(struct open_calls* calls, const struct upstream* upstream, u64 name,
                              u64 now) {
    u32 place;

    if (!calls || !upstream)
        return 0;
    place = find_who_waits(upstream, name);
    if (place < UPSTREAM_ASKING)
        go_on_with_asking(calls, &upstream->of[place & (UPSTREAM_ASKING - 1)], now);
    else if (calls->interleaves)
        detach_spans_of(calls, name, now);
    return 0;
}

/* Of each exchange span that there is. Goroutines, and tasks that are known, keep theirs
 * themselves. */
static __always_inline void go_on_with_all_asking(struct open_calls* calls,
                                                  const struct wire_exchange_spans* all,
                                                  const struct upstream* upstream) {
    struct goroutine_key worker;
    u64 now = bpf_ktime_get_ns();

    if (find_worker(&worker) && worker.g)
        return;
    note_own_time(calls);
    keep_tracepoints_out(calls);
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (all->of[i].generation)
            go_on_with_one(calls, upstream, name_of_spec(all->of[i].spec, all->of[i].generation),
                           now);
    }
    let_tracepoints_in(calls);
}

static __always_inline struct upstream* new_upstream(struct sock* sk, u64 epoch) {
    struct upstream* upstream =
        bpf_sk_storage_get(&upstreams, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

    if (!upstream) {
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    if (upstream->epoch != epoch) {
        __builtin_memset(upstream, 0, sizeof(*upstream));
        upstream->epoch = epoch;
    }
    return upstream;
}

/* The current thread makes a connection. */
static __always_inline void connect_upstream(struct sock* sk) {
    const struct wire_exchange_spans* all = exchange_spans_now();
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    struct upstream* upstream;

    if (!all || !calls || !calls->attached || !works_for_exchange(calls))
        return;
    upstream = new_upstream(sk, all->epoch);
    if (!upstream)
        return;
    upstream->connects = 1;
    note_all_asking(upstream, calls);
}

/* The current thread has sent something on a connection of which there are no exchanges. */
static __always_inline void ask_upstream(struct sock* sk) {
    const struct wire_exchange_spans* all = exchange_spans_now();
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    struct upstream* upstream;
    bool works;

    if (!all || !calls)
        return;
    works = calls->attached && works_for_exchange(calls);
    if (!works) {
        // Only now there is somebody to send to.
        upstream = bpf_sk_storage_get(&upstreams, sk, NULL, 0);
        if (upstream && upstream->epoch == all->epoch && upstream->connects)
            go_on_with_all_asking(calls, all, upstream);
    } else {
        upstream = was_connected(sk) ? new_upstream(sk, all->epoch) : NULL;
        if (upstream)
            note_all_asking(upstream, calls);
    }
    if (upstream)
        upstream->connects = 0;
}

/* The current thread has received something on such a connection. */
static __always_inline void hear_upstream(struct sock* sk) {
    const struct wire_exchange_spans* all = exchange_spans_now();
    struct upstream* upstream = bpf_sk_storage_get(&upstreams, sk, NULL, 0);
    enum thread_calls found;
    struct open_calls* calls;

    if (!all || !upstream || upstream->epoch != all->epoch)
        return;
    calls = calls_of_thread(bpf_get_current_task_btf(), &found);
    if (!calls)
        return;
    go_on_with_all_asking(calls, all, upstream);
}

#endif
