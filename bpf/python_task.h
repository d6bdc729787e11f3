/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Which task a thread runs. Event loops (asyncio, uvloop, trio) run a task by resuming its
 * outermost coroutine, from a function of theirs or from C. So it is told by frames alone, without
 * the loop's own data, which every version keeps elsewhere (3.11: a dictionary of the module
 * _asyncio; 3.14: a word of the thread's state, for asyncio alone): going outwards from the
 * innermost frame, of the first run of generators' frames (coroutines' are such) in which there is
 * a coroutine's the outermost coroutine. A run ends at a frame of an ordinary function. What that
 * does with the cases that there are:
 *
 * - a generator that an ordinary function of the task goes through is a run of its own, without a
 *   coroutine: it is passed over;
 * - what is awaited in between (__await__, types.coroutine, asynchronous generators) is part of the
 *   run, and no coroutine;
 * - trio resumes tasks from a generator (unrolled_run): of that run, too, the task is the outermost
 *   coroutine;
 * - asyncio.run() in a generator, a loop in a task of another one, tasks that begin at once in the
 *   one that makes them (eager, 3.12): the innermost run is the one that runs.
 *
 * A coroutine that an ordinary function of a task resumes itself, by send(), is taken for the task
 * meanwhile. In a greenlet the frames end with it, so there is no task: there the frame of its
 * outermost function, which stands at the beginning of the greenlet's own stack of frames, tells it
 * from others (loop_tasks.h).
 * tests/programs/python_tasks.py has these cases, and knows its tasks; that of uvloop 0.17 and of
 * trio 0.22 (on 3.11) were looked at by hand. The address is the coroutine's, id(task.get_coro());
 * it is also the first argument of PyIter_Send().
 */
#ifndef AUGER_PYTHON_TASK_H
#define AUGER_PYTHON_TASK_H

#include "python_read.h"

/* A function's frame is the next one outwards. Whether the run at hand ends there with a task. */
static __always_inline bool ends_task(const struct python_walk* python, u8 kind) {
    return kind != WIRE_PYTHON_GENERATOR_OWNER && python->coroutine;
}

/* A generator's frame; of its function the flags. */
static __always_inline bool is_coroutine(u8 kind, u32 flags) {
    return kind == WIRE_PYTHON_GENERATOR_OWNER && flags & WIRE_PYTHON_COROUTINE;
}

/* Of the frame that was read last: its kind, and the generator that it is of, if that is its kind.
 * These are the process's words, so they may be anything. */
static __always_inline u8 kind_of_frame(const struct stack_walk* walk,
                                        const struct wire_python_layout* layout) {
    if (layout->frame_generator)
        return word_of(walk, layout->frame_generator) ? WIRE_PYTHON_GENERATOR_OWNER : 0;
    return byte_of(walk, layout->frame_kind);
}

static __always_inline u64 generator_of(const struct stack_walk* walk,
                                        const struct wire_python_layout* layout, u64 frame) {
    u64 generator = layout->frame_generator ? word_of(walk, layout->frame_generator)
                                            : frame - layout->generator_frame;

    return generator >> USER_ADDRESS_BITS ? 0 : generator;
}

struct python_task {
    u64 coroutine; /* address of that of the task that the thread runs; 0: it runs none */
    u64 outermost; /* without a task: address of the outermost function's frame; 0: it has none */
};

/* What the current thread runs. Returns 0 where that cannot be told: its process is not known to be
 * a CPython, or its memory could not be read. */
int find_python_task(struct python_task* task);

#endif
