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
// switch; one that was preempted, by what was done when it went, too. A blocked one is not:
// whatever it waits for goes on meanwhile.
#include "events.h"
#include "filter.h"
#include "gate.h"
#include "goroutine.h"
#include "maps.h"
#include "sample.h"
#include "unwind.h"

enum { MEAN_OF_WAITS = 16 }; /* so many, about, are in a thread's mean */

/* A thread's wait: written when it begins by the thread that goes, read when it ends. */
struct wait {
    u64 since_ns;  /* 0: not waiting, since before it was observed, or its stack is being taken */
    u64 woken_ns;  /* when it was made runnable; 0: not yet, or before since_ns was set */
    u64 own_ns;    /* what was done when it began took */
    u64 clock_ns;  /* how long the thread has waited before, in all */
    u64 mean_ns;   /* of its waits, the last ones above all; 0: there were none */
    u32 epoch;     /* of wire_config, when it began */
    u32 scope;     /* ... in which the thread was found to be observed */
    u32 preempted; /* 1: it never ceased to be runnable */
    u32 waker;    /* words of the buffer that say who woke it, behind the frames; 0: nobody asked */
    u64 argument; /* of the system call */
    u32 in_calls; /* bit i: the wait is in the thread's open call i */
    /* The same of its goroutines; g 0: it is in none of their calls. */
    u32 in_worked_for;
    u32 in_on_stack;
    struct goroutine_key worked_for;
    struct goroutine_key on_stack;
    struct sample_buffer buffer;
};

/* Written by this program alone. A failed creation is counted as WIRE_LOSS_WAIT_STORAGE. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct wait);
} waits SEC(".maps");

/* One element; written by the off-CPU sampler, read by user space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_wait_stats);
} wait_stats SEC(".maps");

/* One element: the off-CPU sampler's walk. Interrupts are off while one is made. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct stack_walk);
} off_cpu_walk SEC(".maps");

// Writes the current thread's user stack behind the first `offset` words, and returns its length.
static __always_inline u32 note_user_stack(struct wait* wait, u32 offset) {
    u32 zero = 0, frames;
    struct stack_walk* walk = bpf_map_lookup_elem(&off_cpu_walk, &zero);

    if (!walk || offset > SAMPLE_WORDS - WIRE_STACK_WORDS)
        return 0;
    frames = walk_user_stack(walk, false);
    if (frames > WIRE_STACK_WORDS)
        return 0;
    bpf_probe_read_kernel(&wait->buffer.words[offset], frames * sizeof(u64), walk->frames);
    return frames;
}

static __always_inline struct wait* wait_of_observed(struct task_struct* task) {
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);
    u32 scope = *(volatile u32*)&config.scope;

    if (wait && scope && wait->scope == scope)
        return wait;
    // Kernel threads have no memory of their own; they wait for work, and nobody asks for it.
    if (!task->mm || !is_observed(task->tgid, task->pid))
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

// How often the clock has ticked by then: once in each period, at a moment of its own that is as
// good as random (the finalizer of MurmurHash3, by Austin Appleby), so that it is in step with
// nothing.
static __noinline u64 ticks_by(u64 clock_ns, u32 tid, u64 period_ns) {
    u64 periods = period_ns ? clock_ns / period_ns : 0;
    u64 moment = periods + ((u64)tid << 32);

    moment = (moment ^ (moment >> 33)) * 0xff51afd7ed558ccd;
    moment = (moment ^ (moment >> 33)) * 0xc4ceb9fe1a85ec53;
    moment = ((moment >> 32) * period_ns) >> 32;
    return periods + (clock_ns - periods * period_ns > moment);
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

// The current thread goes off the CPU. Whether it is observed.
static __always_inline bool begin_wait(void* ctx, struct task_struct* task, bool preempted,
                                       u64 now) {
    struct wait* wait = wait_of_observed(task);
    const struct pt_regs___kernel* regs;
    struct wire_sample* sample;
    struct open_calls* calls;
    u32 offset;

    if (!wait)
        return false;
    wait->preempted = preempted;
    wait->woken_ns = 0;
    wait->epoch = config.wall_epoch;
    wait->in_calls = 0;
    wait->waker = 0;
    sample = &wait->buffer.sample;
    sample->calls = 0;
    regs = (void*)bpf_task_pt_regs(task);
    note_goroutines(wait, regs->sp);
    calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    if (calls && calls->depth) {
        struct stack_place here = {.sp = regs->sp};

        wait->in_calls = note_waiting_calls(calls, wait, &here);
    }
    // What was interrupted has no number of a system call, but a negative one.
    sample->syscall = regs->orig_ax;
    if (preempted || sample->syscall < 0)
        sample->syscall = WIRE_SYSCALL_NONE;
    wait->argument = regs->di;
    offset = words_of_calls(sample);
    sample->user_frames =
        is_stack_wanted(wait, task->pid) ? note_user_stack(wait, offset) : note_cut(wait, offset);
    sample->kernel_frames = 0;
    __builtin_memcpy(sample->comm, task->comm, sizeof(sample->comm));
    wait->own_ns = bpf_ktime_get_ns() - now;
    // Whoever wakes the thread writes behind what has been put together here, so not before. One
    // that came too early is known by having left nothing: no thread that was blocked comes back
    // without having been woken.
    store_release(&wait->since_ns, now);
    return true;
}

// How many words calls and the waiting thread's own frames take.
static __always_inline u32 words_of_frames(const struct wire_sample* sample) {
    return words_of_calls(sample) + (sample->user_frames & (2 * WIRE_STACK_WORDS - 1));
}

static __always_inline void send_wait(struct task_struct* task, struct wait* wait, u64 end_ns,
                                      u64 ticks, u32 kind, struct wire_wait_stats* stats) {
    struct wire_sample* sample = &wait->buffer.sample;
    u32 size;

    if (!ticks)
        return;
    sample->with_waker = kind == WIRE_SAMPLE_BLOCKED && wait->waker;
    size = sizeof(*sample) + (words_of_frames(sample) +
                              (sample->with_waker ? wait->waker & (2 * WIRE_STACK_WORDS - 1) : 0)) *
                                 sizeof(u64);
    if (size > sizeof(wait->buffer))
        return;
    sample->event.kind = WIRE_SAMPLE;
    sample->event.size = size;
    sample->event.time_ns = end_ns;
    sample->event.pid = task->tgid;
    sample->event.tid = task->pid;
    sample->weight_ns = ticks * config.wall_period_ns;
    sample->cpu = bpf_get_smp_processor_id();
    sample->sample_kind = kind;
    if (bpf_ringbuf_output(&events, &wait->buffer, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_WAIT);
    else
        stats->samples++;
}

// Likewise a function of its own.
__noinline int charge_call(struct open_call* call, struct wait* wait, u64 blocked_ns,
                           bool sampled) {
    if (!call || !wait)
        return 0;
    call->waits += sampled;
    if (blocked_ns > call->longest_wait.blocked_ns) {
        call->longest_wait.blocked_ns = blocked_ns;
        call->longest_wait.argument = wait->argument;
        call->longest_wait.syscall = wait->buffer.sample.syscall;
    }
    return 0;
}

// Each of the calls that the wait is in.
__noinline int charge_calls(struct open_calls* calls, struct wait* wait, u32 in_calls,
                            u64 blocked_ns, bool sampled) {
    if (!calls || !wait)
        return 0;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (!(in_calls >> i))
            break;
        if ((in_calls >> i) & 1)
            charge_call(&calls->calls[i], wait, blocked_ns, sampled);
    }
    return 0;
}

// While a thread waits with a goroutine, nobody else runs that.
static __always_inline void charge_goroutines(struct wait* wait, u64 blocked_ns, bool sampled) {
    struct open_calls* calls = calls_of(&wait->worked_for);

    if (calls)
        charge_calls(calls, wait, wait->in_worked_for, blocked_ns, sampled);
    calls = calls_of(&wait->on_stack);
    if (calls)
        charge_calls(calls, wait, wait->in_on_stack, blocked_ns, sampled);
}

// Of its own, like the others.
__noinline int terms_of_waiting_call(struct open_calls* calls, u32 index, u32 gate, u64 now) {
    return calls ? terms_of_call(&calls->calls[index & (WIRE_MAX_OPEN_CALLS - 1)], gate, now) : 0;
}

__noinline int terms_of_waiting_calls(struct open_calls* calls, u32 in_calls, u32 gate, u64 now) {
    u32 fulfilled = 0;

    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (!(in_calls >> i))
            break;
        if (in_calls >> i & 1)
            fulfilled |= terms_of_waiting_call(calls, i, gate, now);
    }
    return fulfilled;
}

// Whether `only` keeps a wait that ends now; of calls, those that it was in.
static __noinline bool is_wait_kept(struct task_struct* task, const struct wait* wait,
                                    struct open_calls* calls, u64 now) {
    u32 gate = gate_in_force(WIRE_GATE_ONLY), fulfilled = 0;
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    if (calls)
        fulfilled = terms_of_waiting_calls(calls, wait->in_calls, gate, now);
    calls = calls_of(&wait->worked_for);
    if (calls)
        fulfilled |= terms_of_waiting_calls(calls, wait->in_worked_for, gate, now);
    calls = calls_of(&wait->on_stack);
    if (calls)
        fulfilled |= terms_of_waiting_calls(calls, wait->in_on_stack, gate, now);
    describe_thread(task, &thread);
    return gate_holds(gate, &thread, fulfilled);
}

// Adds a wait up to the totals of the thread. What we took for its beginning has held up one that
// was runnable all the time; one that was blocked waited anyway.
static __always_inline void charge_thread(struct open_calls* calls, const struct wait* wait,
                                          u64 blocked_ns, u64 runnable_ns) {
    u64 own_ns = blocked_ns ? 0 : wait->own_ns;

    if (own_ns > runnable_ns)
        own_ns = runnable_ns;
    calls->blocked_ns += blocked_ns;
    calls->runnable_ns += runnable_ns - own_ns;
    charge(calls, own_ns);
}

// A thread comes back. Whether it is observed.
static __always_inline bool end_wait(struct task_struct* task, u64 now) {
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);
    u64 since, woken, period, clock, ticks_since, ticks_woken, ticks_now;
    u32 tid = task->pid;
    struct wire_wait_stats* stats;
    struct open_calls* calls;
    bool sampled;
    u32 zero = 0;

    if (!wait || !wait->since_ns)
        return false;
    since = wait->since_ns;
    wait->since_ns = 0;
    if (wait->epoch != config.wall_epoch)
        return false;
    // Clocks of several CPUs.
    if (now < since)
        now = since;
    woken = wait->preempted || wait->woken_ns < since ? since : wait->woken_ns;
    if (woken > now)
        woken = now;
    calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    if (calls)
        charge_thread(calls, wait, woken - since, now - woken);
    stats = bpf_map_lookup_elem(&wait_stats, &zero);
    period = config.wall_period_ns;
    if (!stats || !period)
        return true;
    stats->waits++;
    stats->waited_ns += now - since;
    if (wait->mean_ns)
        wait->mean_ns += (now - since) / MEAN_OF_WAITS - wait->mean_ns / MEAN_OF_WAITS;
    else
        wait->mean_ns = now - since;
    clock = wait->clock_ns;
    wait->clock_ns += now - since;
    ticks_since = ticks_by(clock, tid, period);
    ticks_now = ticks_by(clock + now - since, tid, period);
    sampled = ticks_now != ticks_since && is_wait_kept(task, wait, calls, now);
    if (calls && wait->in_calls)
        charge_calls(calls, wait, wait->in_calls, woken - since, sampled);
    charge_goroutines(wait, woken - since, sampled);
    if (!sampled) {
        stats->gated += ticks_now != ticks_since;
        return true;
    }
    ticks_woken = ticks_by(clock + woken - since, tid, period);
    send_wait(task, wait, woken, ticks_woken - ticks_since, WIRE_SAMPLE_BLOCKED, stats);
    send_wait(task, wait, now, ticks_now - ticks_woken, WIRE_SAMPLE_RUNNABLE, stats);
    return true;
}

// What was done has held up a thread, and the goroutines that it last waited with.
static __always_inline void charge_thread_and_goroutines(struct task_struct* task, u64 own_ns) {
    struct open_calls* calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);

    if (calls)
        charge(calls, own_ns);
    if (!wait)
        return;
    calls = calls_of(&wait->worked_for);
    if (calls)
        charge(calls, own_ns);
    calls = calls_of(&wait->on_stack);
    if (calls)
        charge(calls, own_ns);
}

// What was done for observed threads, whoever was held up by it: a thread that blocks is not, but
// the CPU is.
static __always_inline void count_cost(u64 own_ns) {
    u32 zero = 0;
    struct wire_wait_stats* stats = bpf_map_lookup_elem(&wait_stats, &zero);

    if (stats)
        stats->own_ns += own_ns;
}

SEC("tp_btf/sched_switch")
int off_cpu_switch(u64* ctx) {
    u64 now = bpf_ktime_get_ns(), own_ns;
    bool preempted = ctx[0], observed = false;
    struct task_struct* prev = (void*)ctx[1];
    struct task_struct* next = (void*)ctx[2];

    // The idle thread is nobody's.
    if (prev->pid)
        observed = begin_wait(ctx, prev, preempted || !prev->__state, now);
    if (next->pid && end_wait(next, now))
        observed = true;
    own_ns = bpf_ktime_get_ns() - now;
    if (next->pid)
        charge_thread_and_goroutines(next, own_ns);
    if (observed)
        count_cost(own_ns);
    return 0;
}

// Whether an interrupt, or what one has left to be done, is being handled while a system call is:
// on x86 these have stacks of their own, so that the arguments of the tracepoint are not on the
// task's.
static __always_inline bool is_in_interrupt(void* ctx, struct task_struct* task) {
    return ctx < task->stack || ctx >= (void*)bpf_task_pt_regs(task);
}

// Whether the current thread does what happens now itself: it has called the kernel, and no
// interrupt (a timer's, a device's, or what these leave to be done behind them) has come in
// between. What interrupted it in user mode has no number of a system call, but a negative one.
static __always_inline bool is_own_doing(void* ctx, struct task_struct* task) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);

    return !is_in_interrupt(ctx, task) && (!task->mm || (int)regs->orig_ax >= 0);
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
            waker->frames = note_user_stack(wait, offset + WAKER_WORDS);
    }
    wait->waker = WAKER_WORDS + waker->frames;
}

SEC("tp_btf/sched_waking")
int off_cpu_waking(u64* ctx) {
    struct task_struct* task = (void*)ctx[0];
    struct wait* wait = bpf_task_storage_get(&waits, task, NULL, 0);
    u64 now;

    if (!wait || !load_acquire(&wait->since_ns) || wait->woken_ns)
        return 0;
    now = bpf_ktime_get_ns();
    wait->woken_ns = now;
    if (config.with_wakers)
        note_waker(ctx, wait);
    now = bpf_ktime_get_ns() - now;
    if (config.with_wakers)
        charge_thread_and_goroutines(bpf_get_current_task_btf(), now);
    count_cost(now);
    return 0;
}
