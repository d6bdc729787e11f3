// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A thread goes off its CPU: what is kept of it until it comes back. Of the off-CPU sampler alone.
#ifndef AUGER_OFF_CPU_BEGIN_H
#define AUGER_OFF_CPU_BEGIN_H

#include "filter.h"
#include "goroutine.h"
#include "loop_tasks.h"
#include "maps.h"
#include "sample.h"
#include "spans.h"
#include "unwind.h"
#include "wait_clock.h"

#include ARCH(registers.h)

enum { MEAN_OF_WAITS = 16 }; /* so many, about, are in a thread's mean */

/* A thread's wait: written when it begins by the thread that goes, read when it ends. */
struct wait {
    /* since_ns 0: not waiting, since before it was observed, or its stack is being taken. */
    struct absence away;
    u64 woken_ns; /* when it was made runnable; 0: not yet, or before since_ns was set */
    u64 came_ns;  /* when it was seen to come back the last time; 0: it was not */
    u64 own_ns;   /* what was done at the switch by which it began took */
    u64 clock_ns; /* how long the thread has waited before, in all */
    u64 mean_ns;  /* of its waits, the last ones above all; 0: there were none */
    u32 scope;    /* of wire_config, in which the thread was found to be observed */
    u32 waker;    /* words of the buffer that say who woke it, behind the frames; 0: nobody asked */
    u64 argument; /* of the system call */
    u32 in_calls; /* bit i: the wait is in the thread's open call i */
    u32 told;     /* 1: the tracker has charged it to the thread's calls and spans */
    /* The same of its goroutines; g 0: it is in none of their calls. */
    u32 in_worked_for;
    u32 in_on_stack;
    struct goroutine_key worked_for;
    struct goroutine_key on_stack;
    /* In a Go program with spans: the goroutine that the thread works for; tgid 0: it is none. */
    struct goroutine_key worker;
    struct sample_buffer buffer;
};

/* Written by this program alone. A failed creation is counted as WIRE_LOSS_WAIT_STORAGE. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct wait);
} waits SEC(".maps");

/* One element: the off-CPU sampler's walk. Interrupts are off while one is made. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct stack_walk);
} off_cpu_walk SEC(".maps");

// Writes the current thread's user stack behind the first `offset` words, where there is room for
// `most`, and returns its length.
static __always_inline u32 note_user_stack(struct wait* wait, u32 offset, u32 most) {
    u32 zero = 0, frames;
    struct stack_walk* walk = bpf_map_lookup_elem(&off_cpu_walk, &zero);

    if (!walk || offset > SAMPLE_WORDS - most)
        return 0;
    frames = cut_walk(walk, walk_user_stack(walk, false), most);
    if (frames > most)
        return 0;
    bpf_probe_read_kernel(&wait->buffer.words[offset], frames * sizeof(u64), walk->frames);
    return frames;
}

// ... and which task runs.
static __always_inline u32 note_stack_and_task(struct wait* wait, u32 offset) {
    u32 zero = 0, frames;
    struct stack_walk* walk = bpf_map_lookup_elem(&off_cpu_walk, &zero);
    struct loop_tasks* tasks;

    if (!walk)
        return 0;
    tasks = ask_for_task(walk);
    frames = note_user_stack(wait, offset, WIRE_STACK_WORDS);
    note_task(tasks, walk, &wait->buffer.sample);
    return frames;
}

static __always_inline struct wait* wait_of_observed(struct task_struct* task) {
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);
    u32 scope = *(volatile u32*)&config.scope;

    if (wait && scope && wait->scope == scope)
        return wait;
    // Kernel threads have no memory of their own; they wait for work, and nobody asks for it.
    if (!task->mm ||
        (!is_calibrating(task->tgid, WIRE_CALIBRATE_WAITS) && !is_observed(task->tgid, task->pid)))
        return NULL;
    if (!wait)
        wait = bpf_task_storage_get(&waits, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!wait) {
        count_loss(WIRE_LOSS_WAIT_STORAGE);
        return NULL;
    }
    wait->scope = scope;
    return wait;
}

// A function of its own, or the verifier would try every way through every turn of the loop below.
__noinline u32 note_waiting_call(struct open_call* call, struct wait* wait, u32 index,
                                 struct stack_place* here) {
    return call && wait && list_open_call(call, &wait->buffer, here)
               ? 1u << (index & (WIRE_MAX_OPEN_CALLS - 1))
               : 0;
}

// Which of the calls the wait is in: bits.
__noinline u32 note_waiting_calls(struct open_calls* calls, struct wait* wait,
                                  struct stack_place* here) {
    u32 depth, in_calls = 0;

    if (!calls || !wait)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        in_calls |= note_waiting_call(&calls->calls[i], wait, i, here);
    }
    return in_calls;
}

static __always_inline struct open_calls* calls_of(const struct goroutine_key* key) {
    return key->g ? bpf_map_lookup_elem(&goroutine_calls, key) : NULL;
}

static __always_inline u32 note_goroutine(const struct goroutine* goroutine, struct wait* wait) {
    struct open_calls* calls = calls_of(&goroutine->key);
    struct stack_place here = {.sp = goroutine->sp};

    return calls ? note_waiting_calls(calls, wait, &here) : 0;
}

// The calls of the goroutines that the thread goes off the CPU with.
static __always_inline void note_goroutines(struct wait* wait, u64 sp) {
    struct goroutines goroutines;

    wait->worked_for.g = 0;
    wait->on_stack.g = 0;
    if (!find_goroutines(sp, &goroutines))
        return;
    wait->worked_for = goroutines.worked_for.key;
    wait->in_worked_for = note_goroutine(&goroutines.worked_for, wait);
    wait->on_stack = goroutines.on_stack.key;
    wait->in_on_stack = note_goroutine(&goroutines.on_stack, wait);
}

// The spans that the wait is in; of a thread those that it has worked for since.
static __always_inline struct attached_spans* spans_of_wait(struct open_calls* calls,
                                                            const struct wait* wait) {
    if (wait->worker.tgid)
        return spans_of_goroutine(&wait->worker);
    return calls && calls->attached ? &calls->spans : NULL;
}

static __always_inline void note_worker(struct wait* wait) {
    struct attached_spans* spans;
    struct goroutine_key worker;

    if (find_worker_of_spans(&worker, &spans))
        wait->worker = worker;
}

// Whether a sample is to be expected of the wait that begins, so that its stack is worth being
// taken: which costs most of what is done here. One that turns out to be much longer than those
// before it comes to be a sample all the same, with a frame that says why it has no others.
static __always_inline bool is_stack_wanted(const struct wait* wait, u32 tid) {
    u64 period = config.wall_period_ns, near = wait->mean_ns * config.wait_stacks_within;

    return !near || near >= period ||
           ticks_by(wait->clock_ns + near, tid, period) != ticks_by(wait->clock_ns, tid, period);
}

static __always_inline u32 note_cut(struct wait* wait, u32 offset) {
    u64 word = WIRE_STACK_CUT | WIRE_STOP_SPARED;

    if (offset > SAMPLE_WORDS - WIRE_STACK_WORDS)
        return 0;
    wait->buffer.words[offset] = word;
    return 1;
}

// What is told by the kernel's account if nobody sees the thread come back. By how much the
// scheduler's clock is another one is known from the time before, or, where the thread waits for
// the first time, from others.
static __always_inline void begin_absence(struct task_struct* task, struct wait* wait) {
    if (!bpf_core_field_exists(task->sched_info.last_arrival))
        return;
    if (wait->came_ns && wait->away.epoch == config.wall_epoch) {
        wait->away.clock_offset = (task->sched_info.last_arrival - wait->came_ns) | 1;
        scheduler_clock_offset = wait->away.clock_offset;
    }
    wait->came_ns = 0;
    wait->away.run_delay_ns = task->sched_info.run_delay;
}

// The current thread goes off the CPU, and is observed.
static __always_inline void begin_wait(void* ctx, struct task_struct* task, struct wait* wait,
                                       bool preempted, u64 now) {
    const struct pt_regs___kernel* regs;
    struct attached_spans* spans;
    struct wire_sample* sample;
    struct open_calls* calls;
    u32 offset;

    begin_absence(task, wait);
    wait->away.preempted = preempted;
    wait->away.epoch = config.wall_epoch;
    wait->woken_ns = 0;
    wait->in_calls = 0;
    wait->waker = 0;
    sample = &wait->buffer.sample;
    sample->calls = 0;
    regs = (void*)bpf_task_pt_regs(task);
    note_goroutines(wait, regs->sp);
    calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    if (calls && calls->attached && calls->interleaves && !preempted && waits_for_events(regs))
        leave_exchanges(calls, now);
    wait->worker.tgid = 0;
    if (*(volatile u32*)&goroutines_work_for_spans)
        note_worker(wait);
    spans = spans_of_wait(calls, wait);
    if (spans)
        list_attached_spans(spans, &wait->buffer, false);
    if (calls && calls->depth) {
        struct stack_place here = {.sp = regs->sp};

        wait->in_calls = note_waiting_calls(calls, wait, &here);
    }
    // What was interrupted has no number of a system call, but a negative one.
    sample->syscall = syscall_number(regs);
    if (preempted || sample->syscall < 0)
        sample->syscall = WIRE_SYSCALL_NONE;
    wait->argument = syscall_argument(regs);
    sample->task = 0;
    offset = words_of_calls(sample);
    sample->user_frames = is_stack_wanted(wait, task->pid) ? note_stack_and_task(wait, offset)
                                                           : note_cut(wait, offset);
    sample->kernel_frames = 0;
    __builtin_memcpy(sample->comm, task->comm, sizeof(sample->comm));
    if (calls) {
        calls->away_in.argument = wait->argument;
        calls->away_in.syscall = sample->syscall;
        calls->away_in_calls = wait->in_calls;
        calls->away_in_spans = !wait->worker.tgid;
        calls->away = wait->away;
        calls->away.since_ns = now;
    }
    // Whoever wakes the thread writes behind what has been put together here, so not before. One
    // that came too early is known by having left nothing: no thread that was blocked comes back
    // without having been woken.
    store_release(&wait->away.since_ns, now);
}

#endif
