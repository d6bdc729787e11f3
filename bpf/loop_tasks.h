/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Tasks of a thread that serves several connections in a loop of CPython's (python_task.h). Such a
 * loop receives all that has come, and resumes the tasks that wait for it in a later turn, among
 * others: so what the thread has received last says nothing of whom it works for. A sample says
 * which task ran (wire_sample.task); for which exchanges that was, is told when the task sends
 * something (wire_task_send), and user space puts both together.
 */
#ifndef AUGER_LOOP_TASKS_H
#define AUGER_LOOP_TASKS_H

#include "maps.h"
#include "sample.h"
#include "unwind.h"

/* Of tasks at the same place the one that was sampled last counts. */
static __always_inline u64* place_of_task(struct loop_tasks* tasks, u64 task) {
    u32 hash = (u32)(task >> 4) * 0x9e3779b9u;

    return &tasks->sampled[hash >> 24 & (LOOP_TASKS - 1)];
}

/* Before the current thread's stack is walked for a sample; NULL: nobody asks for its tasks. */
static __always_inline struct loop_tasks* ask_for_task(struct stack_walk* walk) {
    struct loop_tasks* tasks =
        config.with_exchanges
            ? bpf_task_storage_get(&loop_tasks, bpf_get_current_task_btf(), NULL, 0)
            : NULL;

    walk->python.wants_task = tasks != NULL;
    return tasks;
}

/* ... and behind it. */
static __always_inline void note_task(struct loop_tasks* tasks, struct stack_walk* walk,
                                      struct wire_sample* sample) {
    u64 task = tasks && walk->python.has_task ? walk->python.coroutine : 0;

    walk->python.wants_task = 0;
    sample->task = task;
    if (task)
        *place_of_task(tasks, task) = task;
}

#endif
