// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The off-CPU sampler: waits of observed threads, in the same unit as samples of running ones.
//
// Every thread has a clock that goes while it waits, as the sampler's goes while it runs, and ticks
// once in each `wall_period_ns`. A wait in which it ticked n times becomes a sample of n periods'
// weight; one without a tick none, so that the number of events is bounded by the rate however
// often threads switch, and both clocks together tick as often as periods go by. (A clock that goes
// on while the thread runs would count too many periods, or too few, for a program that is in step
// with it.) What a wait cost the open calls is added up exactly, ticks or none.
//
// Only a running thread's stack can be read, so it is taken when the thread goes off the CPU, and
// sent when it comes back.
//
// What this takes lengthens calls. A thread that comes back is held up by all that is done at the
// switch; one that was preempted, by all that was done when it went, too. A blocked one is not:
// whatever it waits for goes on meanwhile. Who wakes another is held up by what is done for that.
#include "off_cpu_end.h"

SEC("tp_btf/sched_switch")
int off_cpu_switch(u64* ctx) {
    u64 now = bpf_ktime_get_ns(), own_ns;
    bool preempted = ctx[0], observed;
    struct task_struct* prev = (void*)ctx[1];
    struct task_struct* next = (void*)ctx[2];
    struct wait *begun = NULL, *ended = NULL;

    // The idle thread is nobody's.
    if (prev->pid)
        begun = wait_of_observed(prev);
    if (begun) {
        if (begun->away.since_ns)
            end_unseen_wait(prev, begun, now);
        begin_wait(ctx, prev, begun, preempted || !prev->__state, now);
    }
    if (next->pid)
        ended = bpf_task_storage_get(&waits, next, NULL, 0);
    observed = end_seen_wait(next, ended, now);
    own_ns = bpf_ktime_get_ns() - now + config.switch_entry_ns;
    charge_thread_and_goroutines(next, ended, own_ns);
    // It comes back nowhere before this is over.
    if (begun)
        begun->own_ns = own_ns;
    if (begun || observed)
        count_cost(own_ns);
    return 0;
}

// Whether an interrupt, or what one has left to be done, is being handled while a system call is:
// these have stacks of their own, so that the arguments of the tracepoint are not on the
// task's.
static __always_inline bool is_in_interrupt(void* ctx, struct task_struct* task) {
    return ctx < task->stack || ctx >= (void*)bpf_task_pt_regs(task);
}

// Whether the current thread does what happens now itself: it has called the kernel, and no
// interrupt (a timer's, a device's, or what these leave to be done behind them) has come in
// between. What interrupted it in user mode has no number of a system call, but a negative one.
static __always_inline bool is_own_doing(void* ctx, struct task_struct* task) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);

    return !is_in_interrupt(ctx, task) && (!task->mm || (int)syscall_number(regs) >= 0);
}

// The current thread wakes another one, or an interrupt does while it runs.
static __always_inline void note_waker(void* ctx, struct wait* wait) {
    u32 offset = words_of_frames(&wait->buffer.sample);
    struct task_struct* task = bpf_get_current_task_btf();
    struct wire_waker* waker = (void*)&wait->buffer.words[offset];

    __builtin_memset(waker, 0, sizeof(*waker));
    if (task->pid && is_own_doing(ctx, task)) {
        waker->pid = task->tgid;
        waker->tid = task->pid;
        __builtin_memcpy(waker->comm, task->comm, sizeof(waker->comm));
        if (task->mm)
            waker->frames = note_user_stack(wait, offset + WAKER_WORDS, WAKER_FRAMES);
    }
    wait->waker = WAKER_WORDS + waker->frames;
}

SEC("tp_btf/sched_waking")
int off_cpu_waking(u64* ctx) {
    struct task_struct* task = (void*)ctx[0];
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);
    struct task_struct* waker = bpf_get_current_task_btf();
    u64 now;

    if (!wait || !load_acquire(&wait->away.since_ns) || wait->woken_ns)
        return 0;
    now = bpf_ktime_get_ns();
    wait->woken_ns = now;
    if (config.with_wakers)
        note_waker(ctx, wait);
    now = bpf_ktime_get_ns() - now + config.waking_entry_ns;
    charge_thread_and_goroutines(waker, bpf_task_storage_get(&waits, waker, NULL, 0), now);
    count_cost(now);
    return 0;
}
