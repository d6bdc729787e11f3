/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where the threads of a process keep a variable of their own. */
#ifndef AUGER_WIRE_THREAD_PLACES_H
#define AUGER_WIRE_THREAD_PLACES_H

#include "types.h"

/* How a thread's variable is found. */
enum wire_thread_way {
    WIRE_THREAD_STATIC = 1,  /* `offset` from the thread pointer */
    WIRE_THREAD_DYNAMIC = 2, /* `offset` in the block that the thread has of `module`, if it has
                                one: as glibc keeps them */
};

struct wire_thread_place {
    __wire_s64 offset;
    __wire_u32 module;
    __wire_u32 way; /* 0: it is not known */
};

enum wire_thread_limit {
    WIRE_THREAD_MODULES = 65536, /* numbers of modules are below it */
};

WIRE_ASSERT(sizeof(struct wire_thread_place) == 16, "wire_thread_place");

#endif
