/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Tasks of event loops that user space has seen waiting: keys of the map `waiting_tasks`. */
#ifndef AUGER_WIRE_WAITING_TASKS_H
#define AUGER_WIRE_WAITING_TASKS_H

#include "types.h"

enum { WIRE_WAITING_TASKS = 16384 };

struct wire_waiting_task {
    __wire_u64 task; /* address of its outermost coroutine */
    __wire_u32 tgid;
    __wire_u32 padding;
};

WIRE_ASSERT(sizeof(struct wire_waiting_task) == 16, "wire_waiting_task");

#endif
