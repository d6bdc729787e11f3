// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which stack a stack pointer lies on. A function of its own, verified once.
#include "open_calls.h"

struct find_stack {
    u64 start;
};

static long note_stack_start(struct task_struct* task, struct vm_area_struct* area,
                             struct find_stack* found) {
    found->start = BPF_CORE_READ(area, vm_start);
    return 0;
}

__noinline int on_one_stack(u64 a, u64 b) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct find_stack first = {}, second = {};

    if (bpf_find_vma(task, a, note_stack_start, &first, 0) ||
        bpf_find_vma(task, b, note_stack_start, &second, 0))
        return 1;
    return first.start == second.start;
}
