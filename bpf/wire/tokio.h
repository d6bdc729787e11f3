/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Which task of tokio's (Rust) a thread polls: where its program's thread-local memory has that. */
#ifndef AUGER_WIRE_TOKIO_H
#define AUGER_WIRE_TOKIO_H

#include "types.h"

/* Distances in bytes from the thread pointer, of words of 64 bits. */
struct wire_tokio_task {
    __wire_s32 id;      /* the task's number; 0 in memory: it polls none. 0 here: not known */
    __wire_s32 is_some; /* 1 in memory: `id` holds a number; 0 here: it always does */
};

WIRE_ASSERT(sizeof(struct wire_tokio_task) == 8, "wire_tokio_task");

#endif
