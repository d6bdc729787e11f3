// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Connections by unix sockets as exchanges see them. The kernel counts no bytes there: whose turn
// it is, is told by when something came. Of the call tracker alone.
#ifndef AUGER_UNIX_CONNECTIONS_H
#define AUGER_UNIX_CONNECTIONS_H

#include "connections.h"

enum {
    SOCKET_STREAM = 1,
    SHUT_BOTH = 3,
    UNIX_LISTENS = 10, /* TCP_LISTEN */
    UNIX_PATH_BYTES = 108,
};

static __always_inline bool is_unix_stream(const struct sock* sk) {
    return sk->__sk_common.skc_family == FAMILY_UNIX && sk->sk_type == SOCKET_STREAM &&
           sk->__sk_common.skc_state != UNIX_LISTENS;
}

/* Which exchange spans are of connections that were accepted at this path: bits. A socket that has
 * connected has no path, or one of its own. */
static __noinline u32 exchanges_of_unix(const struct wire_exchange_spans* spans, struct sock* sk) {
    u64 path[WIRE_UNIX_PATH_WORDS] = {};
    const struct unix_address* address;
    const struct unix_sock* socket;
    u32 of = 0, bytes;

    if (!spans->of_unix)
        return 0;
    socket = bpf_skc_to_unix_sock(sk);
    if (!socket)
        return 0;
    address = socket->addr;
    if (!address)
        return 0;
    bytes = address->len - (u32)sizeof(address->name[0].sun_family);
    // The bound is to be on what is passed, not on a sum: old verifiers do not tell one from the
    // other. Without a byte it is no path.
    asm volatile("" : "+r"(bytes));
    if (bytes > UNIX_PATH_BYTES ||
        bpf_probe_read_kernel(path, bytes,
                              __builtin_preserve_access_index(&address->name[0].sun_path)))
        return 0;
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        u64 other = 0;

#pragma unroll
        for (u32 word = 0; word < WIRE_UNIX_PATH_WORDS; word++)
            other |= path[word] ^ spans->of[i].path[word];
        if (spans->of[i].generation && spans->of[i].is_unix && !other)
            of |= 1u << i;
    }
    return of;
}

/* Seen for the first time when something is received or sent: nobody knows what was before. */
static __always_inline void join_unix_connection(struct connection* connection, u64 epoch) {
    __builtin_memset(connection, 0, sizeof(*connection));
    connection->epoch = epoch;
    connection->facts = JOINED_LATE;
    connection->phase = PHASE_RECEIVED;
}

/* Whether the peer has received all that was sent to it. */
static __always_inline bool has_unix_peer_all(struct sock* sk) {
    const struct unix_sock* socket = bpf_skc_to_unix_sock(sk);
    const struct sock* peer;

    if (!socket)
        return false;
    peer = socket->peer;
    return !peer || !peer->sk_receive_queue.qlen;
}

/* Of memory, which what is sent takes up to twice as much of. */
static __always_inline bool is_unix_peer_behind(const struct sock* sk, u32 sent) {
    return (long)sk->sk_wmem_alloc.refs.counter - 2 * (long)sent > BEHIND_BYTES;
}

/* Something has come. That the program had sent something by then may not have been said yet, when
 * the peer is quick: so when it came is kept, and judged at the next send or receive. */
static __always_inline void judge_what_came(struct connection* connection) {
    if (connection->turn || !connection->asked_ns || !connection->visible_ns ||
        connection->asked_ns < connection->visible_ns)
        return;
    connection->arrived_ns = connection->asked_ns;
    connection->turn = 1;
    connection->early = 0;
}

static __always_inline void note_unix_receive(struct connection* connection,
                                              const struct sock* sk) {
    connection->asked_ns = 0;
    connection->visible_ns = 0;
    connection->early = 0;
    barrier();
    // In this order: what comes now is in the queue before that is said.
    if (*(volatile u32*)&sk->sk_receive_queue.qlen)
        connection->early = 1;
}

/* At a send on a connection of which only an arrival is known: unless that came before what is sent
 * was there for the peer, it came upon it, from a peer that was quicker than the word of the send.
 * So the server speaks first, and nobody knows what was before. When it was there is not known of
 * what a thread does first. */
static __always_inline void doubt_first_arrival(struct connection* connection,
                                                const struct open_calls* calls) {
    if (connection->phase != PHASE_NEW ||
        (calls->unix_sent_ns && connection->arrived_ns < calls->unix_sent_ns))
        return;
    connection->phase = PHASE_RECEIVED;
    connection->facts |= JOINED_LATE;
}

/* At a send: something has come that nobody has received, and that did not come upon it. */
static __always_inline bool has_come_early_to_unix(struct connection* connection,
                                                   struct open_calls* calls) {
    // First: what comes meanwhile is judged at the next receive.
    u32 early = *(volatile u32*)&connection->early;

    barrier();
    connection->visible_ns = calls->unix_sent_ns;
    calls->unix_sent_ns = 0;
    judge_what_came(connection);
    return early && !*(volatile u16*)&connection->turn;
}

static __always_inline struct connection* unix_connection(struct sock* sk,
                                                          const struct wire_exchange_spans* spans) {
    struct connection* connection = bpf_sk_storage_get(&connections, sk, NULL, 0);

    if (connection && connection->epoch == spans->epoch)
        return connection;
    if (!exchanges_of_unix(spans, sk))
        return NULL;
    connection = bpf_sk_storage_get(&connections, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!connection)
        return NULL;
    join_unix_connection(connection, spans->epoch);
    // The first that waits, or the only one: what was before is over.
    if (sk->sk_receive_queue.qlen == 1) {
        connection->facts = 0;
        connection->phase = PHASE_NEW;
    }
    return connection;
}

/* Something has come, sent by the current thread. */
static __always_inline void arrive_at_unix(struct sock* sk) {
    struct wire_exchange_spans* spans = exchange_spans_now();
    struct connection* connection;
    struct open_calls* calls;
    u64 now;

    if (!spans || !spans->of_unix)
        return;
    now = bpf_ktime_get_ns();
    calls = bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), NULL, 0);
    if (calls)
        calls->unix_sent_ns = now;
    // Received before it was said.
    if (!sk->sk_receive_queue.qlen)
        return;
    connection = unix_connection(sk, spans);
    if (!connection)
        return;
    if (connection->turn) {
        arrive_again(connection);
        return;
    }
    if (has_unix_peer_all(sk)) {
        if (connection->phase != PHASE_RECEIVED) {
            connection->arrived_ns = now;
            connection->turn = 1;
            return;
        }
        if (!connection->asked_ns)
            connection->asked_ns = now;
        barrier();
    }
    connection->early = 1;
}

#endif
