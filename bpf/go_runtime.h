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
    __wire_s32 thread_g;   /* from the thread pointer: the g whose stack the thread is on */
    __wire_u16 g_m;        /* in a g: its thread */
    __wire_u16 m_curg;     /* in an m: the goroutine that it works for; 0: none */
    __wire_u16 g_saved_sp; /* in a g: its stack pointer while its thread is on another stack */
    __wire_u16 padding[3];
};

enum wire_go_limit {
    WIRE_GO_CALLERS = 16384,   /* goroutines that are in timed calls at once */
    WIRE_GO_PROCESSES = 16384, /* Go programs with timed calls */
};

/* In wire_call.sequence: the call is a goroutine's, or a span, so that it may end on another thread
 * than it began on. Its start and sequence are no other call's, whatever the thread. */
#define WIRE_CALL_OF_NO_THREAD 0x80000000u

#endif
