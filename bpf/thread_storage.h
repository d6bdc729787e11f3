// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Task storage, for programs that may be preempted: those of uprobes, and iterators.
#ifndef AUGER_THREAD_STORAGE_H
#define AUGER_THREAD_STORAGE_H

#include "maps.h"

__hidden void* get_without_preemption(void* map, struct task_struct* task, u64 flags);

// As bpf_task_storage_get(): NULL where there is none, or none can be created.
static __always_inline void* thread_storage(void* map, struct task_struct* task, u64 flags) {
    return disables_preemption ? get_without_preemption(map, task, flags)
                               : bpf_task_storage_get(map, task, NULL, flags);
}

#endif
