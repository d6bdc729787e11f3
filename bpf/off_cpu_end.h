// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A thread comes back: its wait is charged to its calls, and sent when it was sampled. Of the
// off-CPU sampler alone.
#ifndef AUGER_OFF_CPU_END_H
#define AUGER_OFF_CPU_END_H

#include "events.h"
#include "gate.h"
#include "off_cpu_begin.h"

static __always_inline void send_wait(struct task_struct* task, struct wait* wait, u64 end_ns,
                                      u64 ticks, u32 kind, struct wire_wait_stats* stats) {
    struct wire_sample* sample = &wait->buffer.sample;
    u32 size;

    if (!ticks)
        return;
    sample->with_waker = kind == WIRE_SAMPLE_BLOCKED && wait->waker;
    size = sizeof(*sample) + (words_of_frames(sample) +
                              (sample->with_waker ? wait->waker & (2 * WAKER_FRAMES - 1) : 0)) *
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

// Whether the goroutine that works for the spans had left the thread before that waited.
static __always_inline bool has_worker_left(const struct wait* wait) {
    const struct goroutine_work* work = bpf_map_lookup_elem(&goroutine_spans, &wait->worker);

    return work && is_off_thread(&work->away);
}

static __always_inline void charge_spans(struct attached_spans* spans, const struct wait* wait,
                                         u64 blocked_ns, u64 runnable_ns, bool sampled) {
    struct wire_wait whole = {
        .blocked_ns = blocked_ns,
        .argument = wait->argument,
        .syscall = wait->buffer.sample.syscall,
    };
    u64 g = wait->worker.tgid ? wait->worker.g : 0;

    if (g && has_worker_left(wait))
        g = 0;
    charge_attached_spans(spans, &whole, runnable_ns, sampled, g);
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
    struct attached_spans* spans;
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    if (calls)
        fulfilled = terms_of_waiting_calls(calls, wait->in_calls, gate, now);
    spans = spans_of_wait(calls, wait);
    if (spans)
        fulfilled |= terms_of_attached_spans(spans, gate, now);
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
    u64 own_ns = blocked_ns ? 0 : without_interruptions(wait->own_ns);

    if (own_ns > runnable_ns)
        own_ns = runnable_ns;
    calls->blocked_ns += blocked_ns;
    calls->runnable_ns += runnable_ns - own_ns;
    charge(calls, own_ns);
}

// The same of a goroutine that the thread waited with, unless that had left it already.
static __always_inline void charge_goroutine(const struct goroutine_key* key,
                                             const struct wait* wait, u64 blocked_ns,
                                             u64 runnable_ns) {
    struct goroutine_state* state = key->g ? bpf_map_lookup_elem(&goroutine_calls, key) : NULL;

    if (state && !is_off_thread(&state->waits.away))
        charge_thread(&state->calls, wait, blocked_ns, runnable_ns);
}

// A thread has come back at `now`, and could have been since `woken`. Whether it is observed.
static __noinline bool end_wait(struct task_struct* task, struct wait* wait, u64 woken, u64 now) {
    u64 since, period, clock, ticks_since, ticks_woken, ticks_now;
    u32 tid = task->pid;
    struct wire_wait_stats* stats;
    struct attached_spans* spans;
    struct open_calls* calls;
    bool sampled;
    u32 zero = 0;

    since = wait->away.since_ns;
    wait->away.since_ns = 0;
    calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    if (wait->away.epoch != config.wall_epoch) {
        if (calls)
            calls->away.since_ns = 0;
        return false;
    }
    // Unless the tracker has, when the thread was at a probe since it came back: others of its
    // calls may stand where those were that the wait was in, and others of its spans.
    wait->told = calls && !calls->away.since_ns;
    if (wait->told)
        wait->in_calls = 0;
    else if (calls)
        charge_thread(calls, wait, woken - since, now - woken);
    if (calls)
        calls->away.since_ns = 0;
    charge_goroutine(&wait->worked_for, wait, woken - since, now - woken);
    charge_goroutine(&wait->on_stack, wait, woken - since, now - woken);
    stats = bpf_map_lookup_elem(&wait_stats, &zero);
    period = config.wall_period_ns;
    if (!stats || !period || (u32)task->tgid == own_pid)
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
    spans = wait->told ? NULL : spans_of_wait(calls, wait);
    if (spans)
        charge_spans(spans, wait, woken - since, now - woken, sampled);
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

// A thread comes back just now, whose last wait, if it ever was observed, is `wait`.
static __always_inline bool end_seen_wait(struct task_struct* task, struct wait* wait, u64 now) {
    u64 since, woken;

    if (!wait || !wait->away.since_ns)
        return false;
    wait->came_ns = now;
    since = wait->away.since_ns;
    // Clocks of several CPUs.
    if (now < since)
        now = since;
    woken = wait->away.preempted || wait->woken_ns < since ? since : wait->woken_ns;
    return end_wait(task, wait, woken > now ? now : woken, now);
}

// Of a thread that was blocked, and was not seen to be woken either: by an interrupt then, or by
// whom the kernel hides.
static __always_inline void note_hidden_waker(struct wait* wait) {
    u32 offset = words_of_frames(&wait->buffer.sample);

    if (!config.with_wakers || wait->away.preempted || wait->waker)
        return;
    __builtin_memset(&wait->buffer.words[offset], 0, sizeof(struct wire_waker));
    wait->waker = WAKER_WORDS;
}

// A thread goes again that nobody has seen come back.
static __always_inline void end_unseen_wait(struct task_struct* task, struct wait* wait, u64 now) {
    u64 at = returned_at(task, &wait->away, now);

    if (!at) {
        if (wait->away.epoch == config.wall_epoch)
            count_loss(WIRE_LOSS_RETURN);
        wait->away.since_ns = 0; // or who wakes it would write where the next one is put together
        return;
    }
    // The goroutines that it went with may be on other threads by now.
    wait->worked_for.g = 0;
    wait->on_stack.g = 0;
    wait->worker.g = 0;
    note_hidden_waker(wait);
    end_wait(task, wait, at - runnable_until(task, &wait->away, at), at);
}

// What was done has held up a thread, and the goroutines that it last waited with, which was
// `wait`. Nobody's time is lost by it who has not waited yet: most threads are not observed.
static __always_inline void charge_thread_and_goroutines(struct task_struct* task,
                                                         const struct wait* wait, u64 own_ns) {
    struct open_calls* calls;

    if (!wait)
        return;
    own_ns = without_interruptions(own_ns);
    calls = bpf_task_storage_get(&open_calls, task, NULL, 0);
    if (calls)
        charge(calls, own_ns);
    charge_running_goroutine(&wait->worked_for, own_ns);
    charge_running_goroutine(&wait->on_stack, own_ns);
}

// What was done for observed threads, whoever was held up by it: a thread that blocks is not, but
// the CPU is.
static __always_inline void count_cost(u64 own_ns) {
    u32 zero = 0;
    struct wire_wait_stats* stats = bpf_map_lookup_elem(&wait_stats, &zero);

    if (stats)
        stats->own_ns += own_ns;
}

#endif
