/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Gates: which samples and slow calls are kept, by what the thread is and which calls it is in. */
#ifndef AUGER_GATE_H
#define AUGER_GATE_H

#include "open_calls.h"

enum { NO_GATE = WIRE_GATES };

/* The thread that a gate is asked about. */
struct gate_thread {
    u32 pid;
    u32 tid;
    u64 cgroup;
    u64 comm[WIRE_COMM / sizeof(u64)];
};

/* The gate of this use that is in force, or NO_GATE. Read once an event: it may change at any time.
 */
static __always_inline u32 gate_in_force(u32 use) {
    u32 which = *(volatile u32*)&config.gate[use & 1];

    return which == 1 || which == 2 ? 2 * (use & 1) + which - 1 : NO_GATE;
}

static __always_inline void describe_thread(struct task_struct* task, struct gate_thread* thread) {
    thread->pid = task->tgid;
    thread->tid = task->pid;
    thread->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
    __builtin_memcpy(thread->comm, task->comm, sizeof(thread->comm));
}

/* Which of the gate's terms an open call fulfils at `now`: bits. */
int terms_of_call(const struct open_call* call, u32 gate, u64 now);

/* Which the open calls do that the thread is in `here`; NULL: all that are open. */
int terms_of_calls(struct open_calls* calls, u32 gate, u64 now, struct stack_place* here);

/* Whether the gate holds for a thread whose calls fulfil these terms. */
int gate_holds(u32 gate, const struct gate_thread* thread, u32 fulfilled);

#endif
