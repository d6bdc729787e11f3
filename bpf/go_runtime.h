/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the call tracker must know of Go's runtime, whose goroutines go from thread to thread and
 * whose stacks are moved. Plain data, read by both sides.
 */
#ifndef AUGER_GO_RUNTIME_H
#define AUGER_GO_RUNTIME_H

#include "wire.h"

/* Where things lie, in bytes; of the goroutine's descriptor (g) and the thread's (m). */
struct wire_go_runtime {
    __wire_s32 thread_g;     /* from the thread pointer: the g whose stack the thread is on */
    __wire_u16 g_m;          /* in a g: its thread */
    __wire_u16 m_curg;       /* in an m: the goroutine that it works for; 0: none */
    __wire_u16 g_saved_sp;   /* in a g: its stack pointer while its thread is on another stack */
    __wire_u16 has_switches; /* 1: it is known where goroutines leave threads and come back */
    __wire_u16 padding[2];
    __wire_u8 reason[64]; /* wire_go_reason of each number that the runtime has for one */
};

/* What a parked goroutine waits for, as the runtime names it. Numbers differ between its versions.
 */
enum wire_go_reason {
    WIRE_GO_OTHER = 0,
    WIRE_GO_IO_WAIT,
    WIRE_GO_CHAN_RECEIVE,
    WIRE_GO_CHAN_SEND,
    WIRE_GO_SELECT,
    WIRE_GO_SEMACQUIRE,
    WIRE_GO_MUTEX,
    WIRE_GO_RWMUTEX_READ,
    WIRE_GO_RWMUTEX_WRITE,
    WIRE_GO_COND,
    WIRE_GO_WAIT_GROUP,
    WIRE_GO_SLEEP,
    WIRE_GO_GC_ASSIST,
    WIRE_GO_GC,
    WIRE_GO_COROUTINE,
    WIRE_GO_REASONS = 16, /* there is room for one more */
};

/* The functions of the runtime in which goroutines leave threads and come back, begin and end. The
 * cookie of a probe in one of them. */
enum wire_go_switch {
    WIRE_GO_PARK,    /* gopark: the current goroutine, for a reason that is the third argument */
    WIRE_GO_READY,   /* ready: a parked one, the first argument */
    WIRE_GO_EXECUTE, /* execute: it gets the current thread */
    WIRE_GO_YIELD,   /* goschedImpl, goyield_m, exitsyscall0: it is ready, and waits for its turn */
    WIRE_GO_START,   /* gostartcallfn: the current goroutine makes one, and the first argument is
                        where that keeps its stack pointer */
    WIRE_GO_END,     /* goexit0: the first argument has ended */
    WIRE_GO_SWITCHES,
};

/* Of a Go function's calls that have returned and were watched from beginning to end: duration =
 * attached + queued + parked. Per CPU; read by user space. */
struct wire_go_counts {
    __wire_u64 attached_ns;
    __wire_u64 queued_ns;
    __wire_u64 blocked_ns; /* of `attached_ns`, like the next */
    __wire_u64 runnable_ns;
    __wire_u64 parked_ns[WIRE_GO_REASONS];
};

/* Whose switches are counted: of others, those in processes that run the same programs. */
enum wire_go_switches {
    WIRE_GO_SWITCHES_OF_TARGET = 0,
    WIRE_GO_SWITCHES_OF_OTHERS = 1,
    WIRE_GO_SWITCHES_OF,
};

enum wire_go_limit {
    WIRE_GO_CALLERS = 16384,   /* goroutines that are in timed calls at once */
    WIRE_GO_PROCESSES = 16384, /* Go programs with timed calls */
    WIRE_GO_WORKERS = 4096,    /* goroutines that work for spans at once */
};

/* In wire_call.sequence: the call is a goroutine's, or a span, so that it may end on another thread
 * than it began on. Its start and sequence are no other call's, whatever the thread. */
#define WIRE_CALL_OF_NO_THREAD 0x80000000u

#endif
