/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Tasks of event loops that user space has seen waiting: elements of the map `waiting_tasks`. */
#ifndef AUGER_WIRE_WAITING_TASKS_H
#define AUGER_WIRE_WAITING_TASKS_H

#include "types.h"

enum { WIRE_WAITING_TASKS = 16384 };

struct wire_waiting_task {
    __wire_u64 task; /* address of its outermost coroutine */
    __wire_u32 tgid;
    __wire_u32 padding;
};

/* What a task's element says: bits. */
enum wire_waiting_for {
    WIRE_WAITING_FOR_SEND = 1, /* what it sends next says for which exchange it waited */
    WIRE_WAITING_IN_SPAN = 2,  /* it is the key of a span, whose end is wanted */
};

WIRE_ASSERT(sizeof(struct wire_waiting_task) == 16, "wire_waiting_task");

#endif
