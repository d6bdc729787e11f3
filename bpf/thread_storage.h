// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A thread's memory in maps of task storage, for programs that may be preempted.
#ifndef AUGER_THREAD_STORAGE_H
#define AUGER_THREAD_STORAGE_H

#include "maps.h"

__hidden void* find_unpreempted(void* map, struct task_struct* task, u64 flags);

// As bpf_task_storage_get(): NULL where there is none, or none can be made.
static __always_inline void* thread_storage(void* map, struct task_struct* task, u64 flags) {
    return stops_preemption ? find_unpreempted(map, task, flags)
                            : bpf_task_storage_get(map, task, NULL, flags);
}

#endif
