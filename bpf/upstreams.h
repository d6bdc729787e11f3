// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Upstream connections: sockets of the target that were connected to somewhere, on which an event
// loop asks another server for what an exchange needs. When something is received there, the thread
// works for the exchange that asked. Of the call tracker alone.
//
// Who asked is noted when something is sent, and waits until something is received; further parts
// of an answer are for who was heard last. That is so on connections of a pool, each of which one
// exchange has at a time. Where a second one asks before the first has been heard, as on a
// connection that all share, or where it is not known for whom something was sent, nobody can tell,
// and the thread works for none of them.
// Threads that serve a connection each, and goroutines, need none of this.
#ifndef AUGER_UPSTREAMS_H
#define AUGER_UPSTREAMS_H

#include "call_owners.h"
#include "connections.h"
#include "exchange_waits.h"

enum {
    UPSTREAM_ASKERS = 8,
    /* How long a connection counts as shared from when several have waited, or it was not known
     * who asks. */
    SHARED_NS = 1000000000,
};

/* An exchange that asks: one for which the thread worked when it sent something. */
struct asker {
    struct wire_span_key key;
    u64 state; /* of its span; 0: there is none */
    u64 asked_ns;
    u64 heard_ns; /* when something was received that was for it; 0: not since it asked */
};

struct upstream {
    u64 epoch;     /* of wire_exchange_spans; another one: nothing of this is true any more */
    u64 is_fresh;  /* 1: nothing has been sent on it since it was made for an exchange */
    u64 shared_ns; /* when several have waited last, or it was not known who asks; 0: never */
    struct asker of[UPSTREAM_ASKERS];
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

/* Since when the thread has worked for the exchange that stands there; 0: for none. */
__noinline u64 works_for_exchange_since(const struct attached_span* attached) {
    struct span* span = attached ? attached_span(attached) : NULL;

    return span && (span->open.flags & WIRE_SPAN_IS_EXCHANGE) ? attached->since_ns : 0;
}

/* The same of those for which it has worked the shortest: more than one where several spans are of
 * the same connection. */
static __always_inline u64 last_work_for_exchange(const struct open_calls* calls) {
    u64 last = 0;

    if (!calls->attached)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        u64 since = works_for_exchange_since(&calls->spans.of[i]);

        if (since > last)
            last = since;
    }
    return last;
}

/* The asker's span, as long as it is open; its state in *state. */
static __always_inline struct span* open_span_of(const struct asker* asker, u64* state) {
    /* Old verifiers take keys from the stack and from maps only. */
    struct wire_span_key key = asker->key;
    struct span* span;

    if (!asker->state)
        return NULL;
    span = find_span(&key, state);
    return span && *state == asker->state ? span : NULL;
}

/* Its exchange is open, has not answered since it asked, and nothing that was received was for it.
 * Forgets one that is over. */
__noinline int waits_for_answer(struct asker* asker) {
    struct span* span;
    u64 state;

    if (!asker || !asker->state)
        return 0;
    span = open_span_of(asker, &state);
    if (!span)
        asker->state = 0;
    return span && !asker->heard_ns && span->exchange.sent_ns < asker->asked_ns;
}

/* The place for the exchange with this state: its own, or else that of one that does not wait;
 * UPSTREAM_ASKERS: there is none. Notes it if one of another client's connection waits; several
 * spans may have an exchange of the same. */
__noinline u32 place_for_asker(struct upstream* upstream, u64 state, u64 cookie, u64 now) {
    u32 own = UPSTREAM_ASKERS, free = UPSTREAM_ASKERS;

    if (!upstream)
        return free;
    for (u32 i = 0; i < UPSTREAM_ASKERS; i++) {
        struct asker* asker = &upstream->of[i];

        if (asker->state == state)
            own = i;
        else if (!waits_for_answer(asker))
            free = i;
        else if (asker->key.key != cookie)
            upstream->shared_ns = now;
    }
    return own < UPSTREAM_ASKERS ? own : free;
}

__noinline int anyone_waits(struct upstream* upstream) {
    int waits = 0;

    if (!upstream)
        return 0;
    for (u32 i = 0; i < UPSTREAM_ASKERS; i++)
        waits |= waits_for_answer(&upstream->of[i]);
    return waits;
}

/* The exchange asks, for which the thread works. */
__noinline int note_asker(struct upstream* upstream, const struct attached_span* attached,
                          u64 now) {
    struct asker* asker;
    u32 place;

    if (!upstream || !attached)
        return 0;
    place = place_for_asker(upstream, attached->state, attached->key.key, now);
    if (place >= UPSTREAM_ASKERS)
        return 0; // and it is noted that it is shared
    asker = &upstream->of[place & (UPSTREAM_ASKERS - 1)];
    asker->state = 0;
    barrier();
    asker->key = attached->key;
    asker->asked_ns = now;
    asker->heard_ns = 0;
    barrier();
    asker->state = attached->state;
    return 0;
}

/* Those that the thread has worked for since then. */
static __always_inline void note_askers(struct upstream* upstream, const struct open_calls* calls,
                                        u64 since) {
    u64 now = bpf_ktime_get_ns();

    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (works_for_exchange_since(&calls->spans.of[i]) == since)
            note_asker(upstream, &calls->spans.of[i], now);
    }
}

/* Something is sent of which nobody knows for whom: nor is that known of what comes, and who has
 * been heard is forgotten. */
__noinline int note_unclear(struct upstream* upstream) {
    if (!upstream)
        return 0;
    upstream->shared_ns = bpf_ktime_get_ns();
    for (u32 i = 0; i < UPSTREAM_ASKERS; i++) {
        if (!waits_for_answer(&upstream->of[i]))
            upstream->of[i].state = 0;
    }
    return 0;
}

/* The place of the exchange of this name for which something is received: the only one that waits;
 * where none does, the last one that was heard. UPSTREAM_ASKERS: nobody can tell. */
__noinline u32 find_who_is_heard(struct upstream* upstream, u64 name, u64 now) {
    u32 waits = UPSTREAM_ASKERS, heard = UPSTREAM_ASKERS, waiting = 0;
    u64 heard_ns = 0;

    if (!upstream || (upstream->shared_ns && now < upstream->shared_ns + SHARED_NS))
        return UPSTREAM_ASKERS;
    for (u32 i = 0; i < UPSTREAM_ASKERS; i++) {
        struct asker* asker = &upstream->of[i];

        if (name_of_spec(asker->key.spec, asker->key.generation) != name)
            continue;
        if (waits_for_answer(asker)) {
            waiting++;
            waits = i;
        } else if (asker->state && asker->heard_ns > heard_ns) {
            heard_ns = asker->heard_ns;
            heard = i;
        }
    }
    if (waiting > 1)
        return UPSTREAM_ASKERS;
    return waiting ? waits : heard;
}

/* False: it is over, or another thread serves it, which keeps it. *takes_up: its connection's
 * cookie, when the thread did not work for it. */
static __always_inline bool go_on_with_asker(struct open_calls* calls, struct asker* asker, u64 now,
                                             u64* takes_up) {
    struct wire_span_key key;
    struct span* span;
    u64 state;
    u32 place;

    span = open_span_of(asker, &state);
    if (!span || span->g || span->open.tid != (u32)bpf_get_current_pid_tgid() ||
        load_acquire(&span->open.state) != state)
        return false;
    asker->heard_ns = now;
    span->exchange.idle = 0;
    key = asker->key;
    place = find_attached(calls, name_of_spec(key.spec, key.generation));
    if (place >= WIRE_ATTACHED_SPANS ||
        calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)].state != state) {
        attach_span(calls, span, state, now, 0);
        *takes_up = key.key;
    }
    return true;
}

/* Of the exchanges of one span: the loop goes on with who is heard, or with none. The cookie of the
 * connection for which it did not work before; 0: there is none. */
__noinline u64 hear_for_span(struct open_calls* calls, struct upstream* upstream, u64 name,
                             u64 now) {
    u64 takes_up = 0;
    u32 place;

    if (!calls || !upstream)
        return 0;
    place = find_who_is_heard(upstream, name, now);
    if (place < UPSTREAM_ASKERS &&
        go_on_with_asker(calls, &upstream->of[place & (UPSTREAM_ASKERS - 1)], now, &takes_up))
        return takes_up;
    if (calls->interleaves)
        detach_spans_of(calls, name, now);
    return 0;
}

static __always_inline void hear_for_all(struct open_calls* calls,
                                         const struct wire_exchange_spans* all,
                                         struct upstream* upstream) {
    u64 now = bpf_ktime_get_ns();
    u64 takes_up = 0;

    note_own_time(calls);
    keep_tracepoints_out(calls);
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (all->of[i].generation)
            takes_up |= hear_for_span(calls, upstream,
                                      name_of_spec(all->of[i].spec, all->of[i].generation), now);
    }
    let_tracepoints_in(calls);
    if (takes_up)
        note_take_up(calls, takes_up);
}

/* Goroutines, and tasks that are known, keep their exchanges themselves. */
static __always_inline bool is_workers_thread(void) {
    struct goroutine_key worker;

    return find_worker(&worker) && worker.g;
}

static __always_inline struct upstream* new_upstream(struct sock* sk, u64 epoch) {
    struct upstream* upstream = socket_storage(&upstreams, sk);

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
    u64 since;

    if (!all || !calls || (calls->turn & TURN_IS_UNSETTLED))
        return;
    since = last_work_for_exchange(calls);
    if (!since || is_workers_thread())
        return;
    upstream = new_upstream(sk, all->epoch);
    if (!upstream)
        return;
    upstream->is_fresh = 1;
    note_askers(upstream, calls, since);
    note_that_it_sends(calls);
}

/* The current thread has sent something on a connection of which there are no exchanges. */
static __always_inline void ask_upstream(struct sock* sk) {
    const struct wire_exchange_spans* all = exchange_spans_now();
    struct open_calls* calls =
        bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    struct upstream* upstream;
    u64 since;

    if (!all || !calls || is_workers_thread())
        return;
    since = last_work_for_exchange(calls);
    upstream = bpf_sk_storage_get(&upstreams, sk, NULL, 0);
    if (!upstream || upstream->epoch != all->epoch)
        upstream = since && was_connected(sk) ? new_upstream(sk, all->epoch) : NULL;
    if (!upstream)
        return;
    // Only now there is somebody to send to: for whom it was made, whatever came in between.
    if (upstream->is_fresh) {
        upstream->is_fresh = 0;
        hear_for_all(calls, all, upstream);
        for (u32 i = 0; i < UPSTREAM_ASKERS; i++)
            upstream->of[i].heard_ns = 0;
    } else if (!since) {
        // The rest of what somebody has asked, if one waits.
        if (!anyone_waits(upstream))
            note_unclear(upstream);
    } else if (calls->turn & TURN_IS_UNSETTLED)
        note_unclear(upstream);
    else
        note_askers(upstream, calls, since);
    note_that_it_sends(calls);
}

/* The current thread has received something on such a connection, or that nothing more comes. */
static __always_inline void hear_upstream(struct sock* sk) {
    const struct wire_exchange_spans* all = exchange_spans_now();
    struct upstream* upstream = bpf_sk_storage_get(&upstreams, sk, NULL, 0);
    enum thread_calls found;
    struct open_calls* calls;

    if (!all || !upstream || upstream->epoch != all->epoch || is_workers_thread())
        return;
    calls = calls_of_thread(bpf_get_current_task_btf(), &found);
    if (!calls)
        return;
    hear_for_all(calls, all, upstream);
}

#endif
