/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Spans: what begins at one probe and ends at another, known by a key. */
#ifndef AUGER_WIRE_SPANS_H
#define AUGER_WIRE_SPANS_H

#include "types.h"

/* What happens to a span where one of its points is reached. */
enum wire_span_role {
    WIRE_SPAN_NONE = 0,
    WIRE_SPAN_BEGIN = 1,
    WIRE_SPAN_END = 2,
    WIRE_SPAN_PARK = 3,   /* no thread works for it ... */
    WIRE_SPAN_RESUME = 4, /* ... until this one does */
};

enum wire_span_flag {
    WIRE_SPAN_AT_RETURN = 1, /* the point is where the spec's calls return, else where they begin */
    /* The key is the value that wire_call_program.label names. Else: at a beginning the thread's
     * id, at the other points whatever the thread works for. */
    WIRE_SPAN_KEYED = 2,
    WIRE_SPAN_QUEUED = 4, /* of a beginning: no thread works for it until it is resumed */
    WIRE_SPAN_KEEP = 8,   /* of a beginning: a span that is open with this key goes on */
    /* Keys are the whole machine's, not a process's, since a point of the span is a tracepoint that
     * may be hit in an interrupt, by whatever thread is there. */
    WIRE_SPAN_ANYWHERE = 16,
    /* Of a beginning: there are points that say when threads work for the span. */
    WIRE_SPAN_RESUMED = 32,
};

/* Of a spec whose calls are points of a span. */
struct wire_span_point {
    __wire_u16 spec; /* the span's own, which has counters and a threshold, and no probes */
    __wire_u16 generation;
    __wire_u8 role;
    __wire_u8 flags;
    __wire_u16 padding;
};

struct wire_span_key {
    __wire_u64 key;
    __wire_u32 tgid; /* 0: WIRE_SPAN_ANYWHERE */
    __wire_u16 spec;
    __wire_u16 generation;
};

/* An open span: the beginning of an element of the map `spans`. */
struct wire_span {
    __wire_u64 state;         /* 2 * number, of no other span, + 1 while it is open */
    struct wire_span_key key; /* its own: an element's memory may become another span's */
    __wire_u64 start_ns;
    __wire_u64 expires_ns; /* when it is given up; 0: never */
    /* Sums over the time that threads have worked for it, but for the present one. */
    __wire_u64 attached_ns;
    __wire_u64 blocked_ns;
    __wire_u64 runnable_ns;
    __wire_u64 own_ns;
    __wire_u64 queued_ns;
    __wire_u64 attached_since_ns; /* 0: no thread works for it */
    __wire_u32 sequence;          /* with start_ns names it, as wire_call */
    __wire_u32 tid;               /* of the thread that works for it, or was the last to */
    __wire_u32 flags;             /* wire_open_span_flag */
    __wire_u32 tgid;              /* whose it is */
};

enum wire_open_span_flag {
    WIRE_SPAN_IS_QUEUED = 1, /* no thread has worked for it yet */
    /* Waits of a thread that worked for it are not known: another one took over without that the
     * first had ended it. */
    WIRE_SPAN_UNWATCHED = 2,
    WIRE_SPAN_IS_EXCHANGE = 4,
    WIRE_SPAN_IS_ANSWERED = 8, /* of an exchange: something has been sent */
    WIRE_SPAN_IS_RESUMED = 16, /* WIRE_SPAN_RESUMED */
};

/* Of a unix socket: sun_path, 108 bytes, and zeros up to here. */
#define WIRE_UNIX_PATH_WORDS 14

/*
 * Exchanges of one span: what is received on accepted connections, and what is sent upon it.
 * Its key is the socket's cookie, which no other socket has, and `tgid` 0, since a connection may
 * go from process to process.
 */
struct wire_exchanges {
    __wire_u64 quiet_ns; /* after a send: when it was the last one */
    __wire_u16 spec;
    __wire_u16 generation; /* 0: there are none here */
    __wire_u16 port;       /* of this side of the connection; 0: any */
    __wire_u16 is_unix;    /* 1: not TCP, but unix sockets with this path, in which a name that is
                              no file's begins with a zero */
    __wire_u64 path[WIRE_UNIX_PATH_WORDS];
};

struct wire_exchange_spans {
    __wire_u64 epoch;   /* another number whenever connections begin to be watched; never 0 */
    __wire_u64 of_unix; /* how many of them are of unix sockets */
    struct wire_exchanges of[WIRE_MAX_EXCHANGES];
};

/* Why an exchange is ambiguous: what was asked by what is not known from the socket. In this order
 * in wire_span_counts.ambiguous. */
enum wire_ambiguity {
    WIRE_AMBIGUOUS_EARLY,   /* data came before what had been asked was answered */
    WIRE_AMBIGUOUS_UNASKED, /* the connection sends without being asked */
    WIRE_AMBIGUOUS_TLS,
    WIRE_AMBIGUOUS_HTTP2,
    WIRE_AMBIGUITIES,
};

/*
 * What is counted of a span beside wire_call_counters, per CPU; read by user space. Times are of
 * spans that have ended: of these duration = attached + queued + parked + that in which a goroutine
 * or a task (polled_tasks.h) worked for the span of which it is not known when it was parked.
 */
struct wire_span_counts {
    __wire_u64 expired; /* open for longer than wire_spec.limit_ns */
    __wire_u64 stray;   /* ends that found nothing to end */
    __wire_u64 attached_ns;
    __wire_u64 queued_ns;
    __wire_u64 parked_ns;
    /* Of `attached_ns` what threads did whose waits were watched all the time, and those. */
    __wire_u64 watched_ns;
    __wire_u64 blocked_ns;
    __wire_u64 runnable_ns;
    /* Exchanges that do not count, in wire_call_counters.filtered. */
    __wire_u64 ambiguous[WIRE_AMBIGUITIES];
};

WIRE_ASSERT(sizeof(struct wire_span_point) == 8, "wire_span_point");
WIRE_ASSERT(sizeof(struct wire_span_key) == 16, "wire_span_key");
WIRE_ASSERT(sizeof(struct wire_span) == 104, "wire_span");
WIRE_ASSERT(sizeof(struct wire_exchanges) == 128, "wire_exchanges");

#endif
