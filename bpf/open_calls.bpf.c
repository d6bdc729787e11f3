// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Whether a call has been left, judged by the stacks. A function of its own, verified once.
#include "open_calls.h"

struct find_stack {
    u64 start;
    u64 end;
};

static long note_stack(struct task_struct* task, struct vm_area_struct* area,
                       struct find_stack* found) {
    found->start = BPF_CORE_READ(area, vm_start);
    found->end = BPF_CORE_READ(area, vm_end);
    return 0;
}

// The stack that the kernel made for the process, or the one that pthread_create made for the
// thread: both glibc and musl put the thread's control block, to which fs points, at its upper end.
static __always_inline bool is_own_stack(struct task_struct* task, const struct find_stack* stack) {
    u64 control_block = BPF_CORE_READ(task, thread.fsbase);
    u64 first_stack = BPF_CORE_READ(task, mm, start_stack);

    return (control_block >= stack->start && control_block < stack->end) ||
           (first_stack >= stack->start && first_stack < stack->end);
}

__noinline int has_been_left(struct open_call* call, u64 sp) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct find_stack here = {}, there = {};
    u64 return_address = 0;

    if (!call)
        return 0;
    if (bpf_find_vma(task, call->sp, note_stack, &there, 0) ||
        bpf_find_vma(task, sp, note_stack, &here, 0))
        return 1;
    if (here.start != there.start)
        return 0;
    if (is_own_stack(task, &here))
        return 1;
    bpf_probe_read_user(&return_address, sizeof(return_address), (void*)return_slot(call->sp));
    return (u32)return_address != call->return_address;
}

__noinline int find_own_stack(struct open_calls* calls, u64 sp) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct find_stack here = {};

    if (!calls || bpf_find_vma(task, sp, note_stack, &here, 0) || !is_own_stack(task, &here))
        return 0;
    calls->own_stack_start = here.start;
    calls->own_stack_end = here.end;
    return 1;
}
