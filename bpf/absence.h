/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A thread's time off the CPU, whose end may go unseen: the kernels of some sandboxes run no
 * program while a process of the sandbox itself is current, so none at the switch from it to
 * another one. When the thread is seen again, the kernel's own account says when it came back, and
 * how long it had waited for a CPU.
 */
#ifndef AUGER_ABSENCE_H
#define AUGER_ABSENCE_H

#include "kernel_types.h"

struct absence {
    u64 since_ns;     /* 0: the thread has not gone, or was seen to come back */
    u64 run_delay_ns; /* of sched_info, then */
    u64 clock_offset; /* of the scheduler's clock to ours, by the return before; 0: not known */
    u32 epoch;        /* of wire_config, when it began */
    u32 preempted;    /* 1: it never ceased to be runnable */
};

/* Of the scheduler's clock to ours, by any thread's last return; 0: not known. */
extern __u64 scheduler_clock_offset;

/* When the thread has come back, which has been on a CPU ever since; 0: nobody knows. */
static __always_inline u64 returned_at(const struct task_struct* task, const struct absence* away,
                                       u64 now) {
    u64 at, offset = away->clock_offset ? away->clock_offset : scheduler_clock_offset;

    if (!offset || !bpf_core_field_exists(task->sched_info.last_arrival))
        return 0;
    at = task->sched_info.last_arrival - offset;
    if (at < away->since_ns)
        return away->since_ns;
    return at > now ? now : at;
}

/* How long it waited for a CPU before. */
static __always_inline u64 runnable_until(const struct task_struct* task,
                                          const struct absence* away, u64 at) {
    u64 whole = at - away->since_ns, delay = task->sched_info.run_delay - away->run_delay_ns;

    return away->preempted || delay > whole ? whole : delay;
}

#endif
