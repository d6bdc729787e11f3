// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
#include "thread_storage.h"

// Weak: they are called where the kernel has them (6.10 and later). In this object alone: libbpf
// before 1.5 links no two that name the same function of the kernel.
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

// bpf_task_storage_get() takes a turn on each CPU: while one that was preempted has it there, for
// whichever thread and map, others on that CPU find what there is, and make nothing.
__hidden void* find_unpreempted(void* map, struct task_struct* task, u64 flags) {
    void* found;

    bpf_preempt_disable();
    found = bpf_task_storage_get(map, task, NULL, flags);
    bpf_preempt_enable();
    return found;
}
