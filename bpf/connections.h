// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Connections as exchanges see them: whether it was accepted, whose turn it is, and what its first
// bytes are; those of TCP. Of the call tracker alone.
#ifndef AUGER_CONNECTIONS_H
#define AUGER_CONNECTIONS_H

#include "maps.h"

#include ARCH(registers.h)

/* The exchanges that are asked for. Written by user space, read by the tracker. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_exchange_spans);
} exchange_spans SEC(".maps");

enum connection_phase {
    PHASE_NEW,      /* nothing has been received or sent */
    PHASE_RECEIVED, /* what was done last */
    PHASE_SENT,
};

enum connection_fact {
    CONNECTED = 1,       /* not accepted: nobody asks here */
    JOINED_LATE = 2,     /* it was seen first in the middle of what may be an exchange */
    SPOKE_FIRST = 4,     /* this side sent something before it had received anything */
    SPEAKS_TLS = 8,      /* what is said is not known */
    SPEAKS_HTTP2 = 16,   /* several exchanges at once */
    SPEAKS_FASTCGI = 32, /* requests have an end, which may be received when they are answered */
    SEEN_LATE = 64       /* its first bytes were not seen: what comes later may say what it is */
};

struct connection {
    u64 epoch; /* of wire_exchange_spans; another one: nothing of this is true any more */
    u64 sent_ns;
    u64 arrived_ns; /* the first data that has not been received, when it is the peer's turn; 0 */
    u32 written;    /* how much had been sent in all when something was received the last time */
    u16 phase;
    u16 facts;
    u16 turn;   /* 1: what has come since the last receive came upon what had been sent */
    u16 behind; /* 1: at the last send the peer had not got what was sent before it */
    u16 port;   /* of this side */
    u32 heard;  /* tcp_sock.rcv_nxt when it was judged last whose turn it is */
    /* Of a unix socket. */
    u64 asked_ns;   /* when something came since the last receive, upon all that had been sent; 0 */
    u64 visible_ns; /* when what was sent last was there for the peer; 0: nothing since a receive */
    u32 early;      /* 1: something has come that is not received, and was not judged to come upon
                       what had been sent */
    u32 received;   /* how much, the last time */
    u32 receives;   /* how often; counted before what stands above is as nothing has come */
    /* How much had been sent in all when what is asked began to be received, while the answer
     * before it was being sent yet (`late`). */
    u32 begun;
    u32 late; /* 1: that send has not returned */
    /* By exchange span: the generation of the one for which it has sent without having been asked;
     * 0: it has not. */
    u16 unasked[WIRE_MAX_EXCHANGES];
};

/* Made and written by the tracker alone; gone with the socket. */
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct connection);
} connections SEC(".maps");

/* As bpf_sk_storage_get(), which makes what is not there. Who sends and who receives may make a
 * socket's first storage at once, on two CPUs: the second is refused (-EAGAIN), and then finds it.
 */
static __always_inline void* socket_storage(void* map, struct sock* sk) {
    void* found = bpf_sk_storage_get(map, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

    return found ? found : bpf_sk_storage_get(map, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

enum { SOCKET_NOSPACE = 2 /* SOCK_NOSPACE, of socket.flags */ };

enum {
    FAMILY_UNIX = 1,
    FAMILY_IPV4 = 2,
    FAMILY_IPV6 = 10,
    TCP_STATE_ESTABLISHED = 1,
    TCP_STATE_SYN_SENT = 2,
    TCP_STATE_SYN_RECEIVED = 3,
    TCP_STATE_FIN_WAIT_1 = 4,
    TCP_STATE_CLOSE = 7,
    TCP_STATE_CLOSE_WAIT = 8,
    TCP_STATE_LAST_ACK = 9,
    TCP_STATE_CLOSING = 11,
    /* Receives of what is none of the stream's data: MSG_OOB, MSG_PEEK, MSG_ERRQUEUE. */
    NO_DATA = 1 | 2 | 0x2000,
    /* What the peer may not have got yet and still keep up. */
    BEHIND_BYTES = 65536,
};

static __always_inline struct wire_exchange_spans* exchange_spans_now(void) {
    u32 zero = 0;

    return bpf_map_lookup_elem(&exchange_spans, &zero);
}

/* Which exchange spans are of connections with this port: bits. */
static __always_inline u32 exchanges_of_port(const struct wire_exchange_spans* spans, u16 port) {
    u32 of = 0;

#pragma unroll
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (spans->of[i].generation && !spans->of[i].is_unix &&
            (!spans->of[i].port || spans->of[i].port == port))
            of |= 1u << i;
    }
    return of;
}

/* Whether the peer has said that nothing more will come: that counts as a byte. (Or has refused
 * more, perhaps after that.) */
static __always_inline bool has_peer_finished(const struct sock* sk) {
    u8 state = sk->__sk_common.skc_state;

    return state == TCP_STATE_CLOSE_WAIT || state == TCP_STATE_LAST_ACK ||
           state == TCP_STATE_CLOSING || state == TCP_STATE_CLOSE;
}

/* Something has come that nobody has received, and that did not come upon what had been sent. What
 * comes is counted by the kernel before arrive() hears of it, on another CPU perhaps: a quick
 * peer's next question may be there when the answer's send returns, and nobody has judged it yet.
 */
static __always_inline bool has_come_early(const struct sock* sk, const struct tcp_sock* tcp,
                                           const struct connection* connection) {
    u32 heard = load_acquire(&connection->heard);
    u32 end = heard == tcp->rcv_nxt && has_peer_finished(sk);

    return !*(volatile u16*)&connection->turn && (int)(heard - tcp->copied_seq - end) > 0;
}

/* Something has come upon what was sent, and nothing of that is received yet: what came before may
 * have been the rest of a request that was answered. */
static __always_inline void arrive_again(struct connection* connection) {
    if (connection->turn && (connection->facts & SPEAKS_FASTCGI) && connection->phase == PHASE_SENT)
        connection->arrived_ns = bpf_ktime_get_ns();
}

/* Whether it has not got what was sent before the `sent` bytes just now. */
static __always_inline bool is_peer_behind(const struct tcp_sock* tcp, u32 sent) {
    return (int)(tcp->write_seq - tcp->snd_una - sent) > BEHIND_BYTES;
}

/* Whether the last send could not take all: the rest comes when there is room. */
static __always_inline bool has_no_space(const struct sock* sk) {
    const struct socket* socket = sk->sk_socket;

    return socket && (socket->flags >> SOCKET_NOSPACE & 1);
}

/* How much the program has received in all. */
static __always_inline u64 received_bytes(const struct tcp_sock* tcp) {
    return tcp->bytes_received - (u32)(tcp->rcv_nxt - tcp->copied_seq);
}

/* What a connection is that is seen for the first time: `received` just now, 0: it sent. Ports that
 * connect() chooses are marked as such; an accepted connection has that of the listening socket. */
static __always_inline void begin_connection(struct connection* connection,
                                             const struct tcp_sock* tcp, u16 own_port, u64 epoch,
                                             u32 received) {
    const struct inet_bind_bucket* port = tcp->inet_conn.icsk_bind_hash;

    __builtin_memset(connection, 0, sizeof(*connection));
    connection->epoch = epoch;
    connection->port = own_port;
    connection->heard = tcp->rcv_nxt;
    if (!port || port->fastreuse < 0)
        connection->facts = CONNECTED;
    else if (received_bytes(tcp) != received) {
        connection->facts = JOINED_LATE | SEEN_LATE;
        connection->phase = PHASE_RECEIVED;
        // What has come already is the peer's turn if it has all that was sent by now.
        connection->turn =
            !received && tcp->rcv_nxt != tcp->copied_seq && tcp->snd_una == tcp->write_seq;
    }
}

/* What the first bytes that a connection receives say of it. They stand in the buffer of the system
 * call, where that is a usual one. */
static __always_inline u16 facts_of_first_bytes(u32 received) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    const u64 http2 = 0x5448202a20495250; /* PRI * HT */
    u64 address = receive_buffer(regs), bytes = 0;

    if (!address || bpf_probe_read_user(&bytes, sizeof(bytes), (void*)address))
        return 0;
    /* A handshake, of version 3 and what comes behind the point. */
    if (received >= 3 && (bytes & 0xffff) == 0x0316 && (bytes >> 16 & 0xff) <= 4)
        return SPEAKS_TLS;
    return received >= sizeof(bytes) && bytes == http2 ? SPEAKS_HTTP2 : 0;
}

/* A record of TLS (RFC 8446, section 5.1): its kind, its version, and its length. */
static __always_inline bool is_tls_record(u64 bytes) {
    u8 kind = bytes, minor = bytes >> 16;
    u32 length = (u32)(bytes >> 24 & 0xff) << 8 | (bytes >> 32 & 0xff);

    return kind >= 0x14 && kind <= 0x17 && (u8)(bytes >> 8) == 3 && minor <= 4 && length &&
           length <= 16384 + 256;
}

/* A frame of HTTP/2 (RFC 9113, sections 4.1 and 6): the length of what follows, its kind, flags,
 * and the stream; the last byte of which is not among these. */
static __always_inline bool is_http2_frame(u64 bytes) {
    u32 length =
        (u32)(bytes & 0xff) << 16 | (u32)(bytes >> 8 & 0xff) << 8 | (u32)(bytes >> 16 & 0xff);
    u8 kind = bytes >> 24, flags = bytes >> 32;
    u32 stream = bytes >> 40; /* its upper three bytes, the highest one first */

    if (length > 16384 || stream >> 7 & 1)
        return false;
    switch (kind) {
    case 0: /* DATA, HEADERS: padded or not, last or not, with priority */
    case 1:
        return length && !(flags & ~0x2d);
    case 4: /* SETTINGS, of the whole connection */
        return !stream && length % 6 == 0 && !(flags & ~1);
    case 6: /* PING */
        return !stream && length == 8 && !(flags & ~1);
    case 8: /* WINDOW_UPDATE, RST_STREAM */
    case 3:
        return length == 4 && !flags;
    default:
        return false;
    }
}

/* What that says of a connection which was there before: such as begins a request. */
static __always_inline u16 facts_of_later_bytes(u32 received) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    u64 address = receive_buffer(regs), bytes = 0;

    if (!address || received < 5 || bpf_probe_read_user(&bytes, sizeof(bytes), (void*)address))
        return 0;
    if (is_tls_record(bytes))
        return SPEAKS_TLS;
    return received >= 9 && is_http2_frame(bytes) ? SPEAKS_HTTP2 : 0;
}

/* The first eight bytes of a record of FastCGI 1.0 (section 3.3): version 1, its type, whose it is,
 * and the length of what follows, its upper half first. */
static __always_inline bool begins_fastcgi_request(u64 record) {
    return (record & 0xffff0000ffff) == 0x080000000101;
}

static __always_inline bool ends_fastcgi_request(u64 record) {
    return (record & 0xffff0000ffff) == 0x000000000501;
}

/* Something is received upon a send, or for the first time. Whether it is of a request that has
 * been answered: of FastCGI's a part may be left, at least the record that says that no more of a
 * body comes. Notes that it is FastCGI. */
static __always_inline bool is_rest_of_request(struct connection* connection, u32 received) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    u64 address = receive_buffer(regs), record = 0;
    bool begins, ends;

    if (!address || received < sizeof(record) ||
        bpf_probe_read_user(&record, sizeof(record), (void*)address))
        return false;
    ends = ends_fastcgi_request(record);
    if (ends && received >= 2 * sizeof(record) &&
        bpf_probe_read_user(&record, sizeof(record), (void*)(address + sizeof(record))))
        return false;
    begins = begins_fastcgi_request(record);
    // No connection starts like that: of a unix socket, what came upon it while it was being
    // received looked like the first that ever came.
    if (ends && !begins && connection->phase == PHASE_NEW) {
        connection->facts |= SPEAKS_FASTCGI | JOINED_LATE | SEEN_LATE;
        connection->phase = PHASE_RECEIVED;
        return true;
    }
    if (begins || (ends && connection->phase == PHASE_SENT))
        connection->facts |= SPEAKS_FASTCGI;
    return (connection->facts & SPEAKS_FASTCGI) && connection->phase == PHASE_SENT && !begins;
}

#endif
