// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
#include "thread_storage.h"

// Weak: only Linux 6.10 and later have them. Declared in this object alone: libbpf before 1.5
// cannot link two objects that declare the same kernel function.
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

// Linux counts on each CPU who is in bpf_task_storage_get(), whatever the thread and the map. While
// a program that was preempted in it is counted, others on that CPU find existing storage, but
// cannot create any.
__hidden void* get_without_preemption(void* map, struct task_struct* task, u64 flags) {
    void* found;

    bpf_preempt_disable();
    found = bpf_task_storage_get(map, task, NULL, flags);
    bpf_preempt_enable();
    return found;
}
