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

/* Sockets that have been accepted, or will be, since connections are watched, and of which nothing
 * has been seen: the epoch, by the socket's address. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 8192);
    __type(key, u64);
    __type(value, u64);
} new_unix_connections SEC(".maps");

static __always_inline bool is_unix_stream(const struct sock* sk) {
    return sk->__sk_common.skc_family == FAMILY_UNIX && sk->sk_type == SOCKET_STREAM;
}

static __always_inline bool listens(const struct sock* sk) {
    return sk->__sk_common.skc_state == UNIX_LISTENS;
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

/* The socket of the current process that its system call names first; NULL: there is none. */
static __always_inline struct sock* named_socket(const struct pt_regs___kernel* regs) {
    const struct task_struct* task = bpf_get_current_task_btf();
    struct fdtable* table = BPF_CORE_READ(task, files, fdt);
    u32 fd = syscall_argument(regs);
    struct file *file, **files;
    struct socket* socket;

    if (fd >= BPF_CORE_READ(table, max_fds))
        return NULL;
    files = BPF_CORE_READ(table, fd);
    if (bpf_probe_read_kernel(&file, sizeof(file), files + fd))
        return NULL;
    socket = BPF_CORE_READ(file, private_data);
    return BPF_CORE_READ(socket, sk);
}

/* The current thread connects, and the other side of its connection is where it will be accepted:
 * that is told before anything can be sent. */
static __always_inline void connect_to_unix(struct sock* listener) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct wire_exchange_spans* spans = exchange_spans_now();
    const struct unix_sock* own;
    u64 accepted, epoch;

    if (!spans || !connects(regs) || !exchanges_of_unix(spans, listener))
        return;
    own = (const void*)named_socket(regs);
    accepted = (u64)BPF_CORE_READ(own, peer);
    epoch = spans->epoch;
    if (accepted)
        bpf_map_update_elem(&new_unix_connections, &accepted, &epoch, BPF_ANY);
}

/* Whether what is seen of it just now is the first that came. */
static __always_inline bool is_new_unix_connection(const struct sock* sk, u64 epoch) {
    u64 accepted = (u64)sk;
    const u64* since = bpf_map_lookup_elem(&new_unix_connections, &accepted);
    bool is_new = since && *since == epoch;

    if (since)
        bpf_map_delete_elem(&new_unix_connections, &accepted);
    return is_new;
}

/* Whether the current thread is the one to say what is known of a connection that is seen for the
 * first time: who sends and who receives may both see it at once, on two CPUs, and the second to
 * say it would take back what the first has noted since. `before`: the epoch of what it has. */
static __always_inline bool claims_unix_connection(struct connection* connection, u64 epoch,
                                                   u64* before) {
    *before = *(volatile u64*)&connection->epoch;
    return *before != epoch &&
           __sync_val_compare_and_swap(&connection->epoch, *before, epoch) == *before;
}

/* Seen for the first time when something is received or sent. `is_new`: nothing was before, which
 * is what all zeros say; else nobody knows what was. */
static __always_inline void join_unix_connection(struct connection* connection, bool is_new,
                                                 u64 before) {
    if (before)
        __builtin_memset(&connection->sent_ns, 0,
                         sizeof(*connection) - __builtin_offsetof(struct connection, sent_ns));
    if (is_new)
        return;
    connection->facts = JOINED_LATE | SEEN_LATE;
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

/* Of memory, which what is sent takes up to twice as much of; or where there is no room for more
 * (unix_writable()). */
static __always_inline bool is_unix_peer_behind(const struct sock* sk, u32 sent) {
    long held = sk->sk_wmem_alloc.refs.counter;

    return held - 2 * (long)sent > BEHIND_BYTES || 4 * held > sk->sk_sndbuf;
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

/* Something is received: if nothing that came since the last receive has been said to have come,
 * that is this, which was received before it was said. */
static __always_inline void judge_what_is_received(struct connection* connection) {
    judge_what_came(connection);
    if (connection->phase == PHASE_SENT && !*(volatile u32*)&connection->early &&
        !*(volatile u64*)&connection->asked_ns)
        connection->turn = 1;
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
    bool is_new;
    u64 before;

    if (connection && connection->epoch == spans->epoch)
        return connection;
    if (!exchanges_of_unix(spans, sk))
        return NULL;
    connection = socket_storage(&connections, sk);
    if (!connection || !claims_unix_connection(connection, spans->epoch, &before))
        return connection;
    is_new = is_new_unix_connection(sk, spans->epoch);
    // The first that waits, or the only one: what was before is over.
    join_unix_connection(connection, is_new || sk->sk_receive_queue.qlen == 1, before);
    return connection;
}

/* What has come is judged by what was done last: this says whether that was upon it. */
static __always_inline void note_unix_arrival(struct connection* connection, struct sock* sk,
                                              u64 now) {
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

/* Something has come, sent by the current thread. */
static __always_inline void arrive_at_unix(struct sock* sk) {
    struct wire_exchange_spans* spans = exchange_spans_now();
    struct connection* connection;
    struct open_calls* calls;
    u32 receives;
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
    receives = *(volatile u32*)&connection->receives;
    barrier();
    if (!*(volatile u32*)&sk->sk_receive_queue.qlen)
        return;
    if (connection->turn) {
        arrive_again(connection);
        return;
    }
    note_unix_arrival(connection, sk, now);
    // Or meanwhile: an interrupt between two of these lines may take longer than an exchange. A
    // receive that has not counted itself is to forget this itself, when it has used it.
    __sync_fetch_and_or(&connection->early, 0);
    if (*(volatile u32*)&connection->receives == receives ||
        *(volatile u32*)&sk->sk_receive_queue.qlen)
        return;
    connection->early = 0;
    connection->asked_ns = 0;
    connection->arrived_ns = 0;
    connection->turn = 0;
}

#endif
