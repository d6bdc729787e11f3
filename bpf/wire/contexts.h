/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where programs say what their threads work for. */
#ifndef AUGER_WIRE_CONTEXTS_H
#define AUGER_WIRE_CONTEXTS_H

#include "types.h"

/* How a thread's variable is found. */
enum wire_context_way {
    WIRE_CONTEXT_STATIC = 1,  /* `offset` from the thread pointer */
    WIRE_CONTEXT_DYNAMIC = 2, /* `offset` in the block that the thread has of `module`, if it has
                                 one: as glibc keeps them */
};

/*
 * Of a process: where its threads keep the variable otel_thread_ctx_v1, a pointer to a record of
 * what the thread works for (OpenTelemetry's thread context, OTEP 4947).
 */
struct wire_context_place {
    __wire_s64 offset;
    __wire_u32 module;
    __wire_u32 way;
};

enum wire_context_limit {
    WIRE_CONTEXT_PROCESSES = 16384, /* of which this is known at once */
    WIRE_CONTEXT_MODULES = 65536,   /* numbers of modules are below it */
};

WIRE_ASSERT(sizeof(struct wire_context_place) == 16, "wire_context_place");

#endif
