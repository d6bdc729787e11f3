/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Tasks of a thread that serves several connections in a loop of CPython's (python_task.h). Such a
 * loop receives all that has come, and resumes the tasks that wait for it in a later turn, among
 * others: so what the thread has received last says nothing of whom it works for. A sample says
 * which task ran (wire_sample.task); for which exchanges that was, is told when the task sends
 * something (wire_task_send), and user space puts both together.
 *
 * Likewise greenlets (gevent), whose loop is another greenlet: each has frames of its
 * own, so what it runs is told by the outermost one. A thread that has sent something in two such
 * has greenlets; one whose loop is a function of Python's has always the same.
 */
#ifndef AUGER_LOOP_TASKS_H
#define AUGER_LOOP_TASKS_H

#include "maps.h"
#include "sample.h"
#include "unwind.h"

/* Where the task may be noted: TASKS_OF_SET places. */
static __always_inline u32 set_of_task(u64 task) {
    u32 hash = (u32)(task >> 4) * 0x9e3779b9u;

    return hash >> 16 & (LOOP_TASKS - TASKS_OF_SET);
}

/* The first of these with that in it; NULL: there is none. */
static __always_inline u64* find_in_set(struct loop_tasks* tasks, u32 set, u64 task) {
#pragma unroll
    for (u32 i = 0; i < TASKS_OF_SET; i++) {
        u64* place = &tasks->sampled[(set + i) & (LOOP_TASKS - 1)];

        if (*place == task)
            return place;
    }
    return NULL;
}

/* Where all places are taken one gives way, whose samples count by what was received last. */
static __always_inline void note_sampled(struct loop_tasks* tasks, u64 task) {
    u32 set = set_of_task(task);
    u64* place = find_in_set(tasks, set, task);

    if (!place)
        place = find_in_set(tasks, set, 0);
    if (!place)
        place = &tasks->sampled[set & (LOOP_TASKS - 1)];
    *place = task;
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
    u64 task = 0;

    if (tasks && walk->python.has_task)
        task = walk->python.coroutine;
    else if (tasks && tasks->has_greenlets && !walk->python.frame)
        task = walk->python.outermost;
    walk->python.wants_task = 0;
    sample->task = task;
    if (task)
        note_sampled(tasks, task);
}

#endif
