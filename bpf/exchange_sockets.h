// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What happens on sockets, as the steps of exchanges. Of the call tracker alone.
#ifndef AUGER_EXCHANGE_SOCKETS_H
#define AUGER_EXCHANGE_SOCKETS_H

#include "call_owners.h"
#include "exchange_tasks.h"
#include "unix_connections.h"
#include "upstreams.h"

/* What is at hand when something is received or sent. */
struct socket_use {
    struct open_calls* calls;
    struct connection* connection;
    struct tcp_sock* tcp; /* NULL: a unix socket */
    u32 exchanges;        /* which spans are of this connection: bits */
    u64 cookie;
    u64 now;
};

static __always_inline bool is_tcp(const struct sock* sk) {
    u16 family = sk->__sk_common.skc_family;

    return family == FAMILY_IPV4 || family == FAMILY_IPV6;
}

static __always_inline u32 exchanges_of_socket(const struct wire_exchange_spans* spans,
                                               struct sock* sk) {
    if (is_tcp(sk))
        return exchanges_of_port(spans, sk->__sk_common.skc_num);
    return is_unix_stream(sk) && !listens(sk) ? exchanges_of_unix(spans, sk) : 0;
}

// False: there is nothing to do. `received`: how much just now.
static __always_inline bool begin_use(struct sock* sk, u32 received, struct socket_use* use) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct connection* connection;
    enum thread_calls found;
    u64 before;

    use->exchanges = all ? exchanges_of_socket(all, sk) : 0;
    if (!use->exchanges)
        return false;
    use->tcp = bpf_skc_to_tcp_sock(sk);
    if (!use->tcp && is_tcp(sk))
        return false;
    use->calls = calls_of_thread(bpf_get_current_task_btf(), &found);
    if (!use->calls)
        return false;
    connection = socket_storage(&connections, sk);
    if (!connection) {
        count_loss(WIRE_LOSS_STORAGE);
        return false;
    }
    if (connection->epoch != all->epoch) {
        if (use->tcp)
            begin_connection(connection, use->tcp, sk->__sk_common.skc_num, all->epoch, received);
        else if (claims_unix_connection(connection, all->epoch, &before))
            join_unix_connection(connection, received && is_new_unix_connection(sk, all->epoch),
                                 before);
    }
    use->connection = connection;
    if (connection->facts & CONNECTED)
        return false;
    use->now = bpf_ktime_get_ns();
    use->cookie = bpf_get_socket_cookie(sk);
    note_own_time(use->calls);
    return true;
}

static __always_inline void forget_arrival(struct connection* connection) {
    connection->arrived_ns = 0;
    connection->asked_ns = 0;
    connection->turn = 0;
}

// Whether a byte is received that has come upon an answer whose send has not returned yet: Go's
// net/http reads one ahead in another goroutine, so as to notice that a client is gone.
static __always_inline bool is_read_ahead(const struct connection* connection, u32 received) {
    struct goroutine_key worker;

    return connection->phase == PHASE_RECEIVED && received == 1 &&
           *(volatile u16*)&connection->turn && !(connection->facts & JOINED_LATE) &&
           find_worker(&worker);
}

// Whether arrive() has heard of nothing that is received just now. It runs once at a time on a CPU,
// so an interrupt in the middle of it brings data of which it is not told.
static __always_inline bool came_unheard(const struct connection* connection,
                                         const struct tcp_sock* tcp, u32 received) {
    u32 heard = load_acquire(&connection->heard);

    return (int)(tcp->copied_seq - received - heard) >= 0 && tcp->copied_seq != heard;
}

static __always_inline void receive(struct sock* sk, u32 received) {
    struct connection* connection;
    struct socket_use use;
    bool begins, is_ahead;

    if (!begin_use(sk, received, &use)) {
        hear_upstream(sk);
        return;
    }
    connection = use.connection;
    if (!use.tcp)
        judge_what_is_received(connection);
    else if (connection->phase == PHASE_SENT && !connection->turn &&
             came_unheard(connection, use.tcp, received))
        connection->turn = 1; // when it came is not known
    // Else the compiler keeps another copy for each branch, and the verifier does not know which.
    barrier_var(use.tcp);
    is_ahead = use.tcp && is_read_ahead(connection, received);
    begins = connection->phase != PHASE_RECEIVED || is_ahead;
    if (begins && is_rest_of_request(connection, received)) {
        // What has come behind it has come upon what was sent.
        if (use.tcp ? use.tcp->copied_seq == use.tcp->rcv_nxt : !sk->sk_receive_queue.qlen)
            forget_arrival(connection);
        return;
    }
    if (connection->phase == PHASE_NEW)
        connection->facts |= facts_of_first_bytes(received);
    else if (begins && (connection->facts & SEEN_LATE) &&
             !(connection->facts & (SPEAKS_TLS | SPEAKS_HTTP2)))
        connection->facts |= facts_of_later_bytes(received);
    connection->received = received;
    if (is_ahead) {
        connection->begun = use.tcp->write_seq;
        connection->late = 1;
    }
    if (begins)
        note_take_up(use.calls, use.cookie);
    keep_tracepoints_out(use.calls);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (!(use.exchanges >> i & 1))
            continue;
        if (begins)
            begin_exchange(use.calls, connection, i, use.cookie, use.now);
        else
            go_on_with_exchange(use.calls, i, use.cookie, use.now);
        // What came before a reset is received after it.
        if (sk->__sk_common.skc_state == TCP_STATE_CLOSE)
            close_exchange(i, use.cookie);
    }
    let_tracepoints_in(use.calls);
    // Before what arrive() judges by: what comes just now comes upon nothing.
    if (use.tcp)
        connection->written = use.tcp->write_seq;
    connection->receives++;
    barrier();
    connection->phase = PHASE_RECEIVED;
    connection->arrived_ns = 0;
    barrier();
    connection->turn = 0;
    if (!use.tcp)
        note_unix_receive(connection, sk);
}

static __always_inline void send(struct sock* sk, u32 sent) {
    struct connection* connection;
    struct socket_use use;
    u32 facts = 0;

    if (!begin_use(sk, 0, &use)) {
        ask_upstream(sk);
        return;
    }
    connection = use.connection;
    // What has come upon it was received before it returned, and has ended the exchange.
    if (*(volatile u32*)&connection->late) {
        connection->late = 0;
        if (use.tcp && connection->begun == use.tcp->write_seq)
            return;
    }
    if (!use.tcp)
        doubt_first_arrival(connection, use.calls);
    if (connection->phase == PHASE_NEW) {
        connection->facts |= SPOKE_FIRST;
        facts = SEND_IS_UNASKED;
    }
    if (connection->phase == PHASE_SENT)
        facts |= SEND_GOES_ON;
    if (connection->facts & JOINED_LATE)
        facts |= SEND_IS_UNCLEAR;
    if ((use.tcp ? has_come_early(sk, use.tcp, connection)
                 : has_come_early_to_unix(connection, use.calls)) &&
        !(connection->facts & SPEAKS_FASTCGI))
        facts |= SEND_IS_EARLY;
    if (use.tcp ? is_peer_behind(use.tcp, sent) || has_no_space(sk) : is_unix_peer_behind(sk, sent))
        facts |= SEND_IS_BEHIND;
    // An answer to another client may be a task's, in the middle of such a turn.
    if (use.calls->taken_up == use.cookie)
        note_that_it_sends(use.calls);
    keep_tracepoints_out(use.calls);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (use.exchanges >> i & 1)
            answer_exchange(use.calls, connection, facts | i << SEND_FACT_BITS, use.cookie,
                            use.now);
    }
    if (use.calls->interleaves)
        tell_task_of_send(use.calls, use.exchanges, use.cookie);
    else
        look_for_tasks(use.calls);
    let_tracepoints_in(use.calls);
    connection->facts &= ~JOINED_LATE;
    // The next one was begun meanwhile.
    if (*(volatile u32*)&connection->late)
        return;
    connection->phase = PHASE_SENT;
    connection->behind = (facts & SEND_IS_BEHIND) != 0;
    connection->sent_ns = use.now;
}

// Something has come, in an interrupt mostly. It is the peer's turn when it has all that was sent,
// and something was sent since it was heard of.
static __always_inline void arrive(struct sock* sk) {
    struct connection* connection;
    struct tcp_sock* tcp;

    if (is_unix_stream(sk)) {
        if (listens(sk))
            connect_to_unix(sk);
        else
            arrive_at_unix(sk);
        return;
    }
    connection = bpf_sk_storage_get(&connections, sk, NULL, 0);
    if (!connection || (connection->facts & CONNECTED))
        return;
    tcp = bpf_skc_to_tcp_sock(sk);
    if (!tcp)
        return;
    if (!connection->turn && tcp->snd_una == tcp->write_seq &&
        (connection->phase != PHASE_RECEIVED || connection->written != tcp->write_seq)) {
        connection->arrived_ns = bpf_ktime_get_ns();
        connection->turn = 1;
    } else
        arrive_again(connection);
    store_release(&connection->heard, tcp->rcv_nxt);
}

// Nothing more comes. A peer that has closed its unix socket takes no answer, either.
static __always_inline void receive_end(struct sock* sk) {
    struct wire_exchange_spans* all = exchange_spans_now();
    u32 exchanges;
    u64 cookie;

    if (!all || !is_unix_stream(sk) || sk->sk_shutdown != SHUT_BOTH ||
        !bpf_sk_storage_get(&connections, sk, NULL, 0))
        return;
    exchanges = exchanges_of_unix(all, sk);
    cookie = bpf_get_socket_cookie(sk);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (exchanges >> i & 1)
            close_exchange(i, cookie);
    }
}

// A connection's state changes, in an interrupt perhaps: nothing of the current thread's is at
// hand. One that is reset has lost its port by then.
static __always_inline void change_state(struct sock* sk, int before, int after) {
    struct wire_exchange_spans* all = exchange_spans_now();
    struct connection* connection;
    struct tcp_sock* tcp;
    u32 exchanges;
    u64 cookie;

    if (!all)
        return;
    if (after == TCP_STATE_SYN_SENT)
        connect_upstream(sk);
    if (before == TCP_STATE_SYN_RECEIVED && after == TCP_STATE_ESTABLISHED) {
        tcp = exchanges_of_socket(all, sk) ? bpf_skc_to_tcp_sock(sk) : NULL;
        connection = tcp ? socket_storage(&connections, sk) : NULL;
        if (connection && connection->epoch != all->epoch)
            begin_connection(connection, tcp, sk->__sk_common.skc_num, all->epoch,
                             received_bytes(tcp));
        return;
    }
    if (after != TCP_STATE_FIN_WAIT_1 && after != TCP_STATE_LAST_ACK && after != TCP_STATE_CLOSE)
        return;
    connection = bpf_sk_storage_get(&connections, sk, NULL, 0);
    if (!connection)
        return;
    exchanges = exchanges_of_port(all, connection->port);
    cookie = bpf_get_socket_cookie(sk);
#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (exchanges >> i & 1)
            close_exchange(i, cookie);
    }
}

#endif
