/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Which task a thread runs for a runtime that has many of them on few threads: tokio's (Rust), and
 * Java's virtual threads. All that is read may be anything: it is the process's. */
#ifndef AUGER_POLLED_TASKS_H
#define AUGER_POLLED_TASKS_H

#include "kernel_types.h"
#include "thread_variable.h"
#include "unwind_table.h"

#include ARCH(types.h)

/* Both are the number of the current thread's; 0: it runs none, or that cannot be read now. */
static __always_inline u64 find_tokio_task(const struct wire_tokio_task* place) {
    u64 thread = bpf_get_current_task_btf()->THREAD_POINTER, id = 0, is_some = 1;

    if (place->is_some && !read_word(thread + (s64)place->is_some, &is_some))
        return 0;
    return is_some == 1 && read_word(thread + (s64)place->id, &id) ? id : 0;
}

static __always_inline u64 find_virtual_thread(const struct wire_virtual_threads* java) {
    u64 variable, thread, continuation, owner;

    if (!find_thread_variable(&java->thread, &variable) || !variable ||
        !read_word(variable, &thread) || !thread ||
        !read_word(thread + java->continuation, &continuation) || !continuation)
        return 0;
    return read_word(thread + java->owner, &owner) ? owner : 0;
}

static __always_inline bool has_polled_tasks(const struct wire_unwind_process* process) {
    return process->tokio.id || process->java.thread.way;
}

/* The task that the current thread runs; 0: none. Returns 0 where its process is not known to have
 * any. */
int find_polled_task(u64* task);

#endif
