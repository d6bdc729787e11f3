// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The slow-call tracer: a call beyond its spec's threshold becomes an event of its own, with its
// stack. A token bucket per CPU keeps a threshold that was set too low from flooding the ring.
#include "slow_tracer.h"
#include "events.h"
#include "gate.h"
#include "maps.h"
#include "open_calls.h"
#include "spans.h"
#include "thread_storage.h"
#include "unwind.h"

/* One element: the time up to which a CPU's allowance of slow-call events is used up. Written and
 * read by the slow-call tracer alone. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} slow_budget SEC(".maps");

/* One element: slow calls that a gate kept back. Written by the slow-call tracer, read by user
 * space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} gated_slow_calls SEC(".maps");

/* What is told of a thread's slow call. It is put together here, not in the ring, since a uprobe
 * may be preempted: nothing behind a record that is not complete can be read. */
struct slow_report {
    u32 taken; /* 1 while somebody puts a report together there */
    struct wire_slow_call record;
    struct stack_walk walk; /* begins with the frames that follow the record */
};

_Static_assert(offsetof(struct slow_report, walk) ==
                       offsetof(struct slow_report, record) + sizeof(struct wire_slow_call) &&
                   offsetof(struct stack_walk, frames) == 0,
               "slow_report");

/* Written by the slow-call tracer alone. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct slow_report);
} slow_reports SEC(".maps");

/*
 * For a thread's first slow call when its storage cannot be made: bpf_task_storage_get() makes none
 * while it has interrupted somebody on the same CPU who is in it. And for a tracepoint that has
 * interrupted the thread while it put its own together. Not for all reports: a preempted
 * thread keeps its spare, so whoever starves threads of his own could take them from everybody.
 * Written by the slow-call tracer alone; that none is free is counted as WIRE_LOSS_SLOW_MEMORY.
 */
#define SLOW_SPARES 16
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SLOW_SPARES);
    __type(key, u32);
    __type(value, struct slow_report);
} slow_spares SEC(".maps");

static __always_inline bool take(struct slow_report* report) {
    return report && __sync_val_compare_and_swap(&report->taken, 0, 1) == 0;
}

static __noinline struct slow_report* take_spare(void) {
    for (u32 i = 0; i < SLOW_SPARES; i++) {
        u32 at = i;
        struct slow_report* report = bpf_map_lookup_elem(&slow_spares, &at);

        if (take(report))
            return report;
    }
    return NULL;
}

static __always_inline void give_back(struct slow_report* report) {
    __sync_lock_test_and_set(&report->taken, 0);
}

static __always_inline void count_gated_slow_call(void) {
    u32 zero = 0;
    u64* count = bpf_map_lookup_elem(&gated_slow_calls, &zero);

    if (count)
        __sync_fetch_and_add(count, 1);
}

/* Generic cell rate algorithm: `used_until` runs ahead of the clock by at most a burst. */
static __always_inline bool within_slow_rate(u64 now) {
    u64 interval = config.slow_interval_ns;
    u64 burst = interval * WIRE_SLOW_BURST;
    u32 zero = 0;
    u64* used_until = bpf_map_lookup_elem(&slow_budget, &zero);

    if (!used_until)
        return false;
    if (*used_until < now)
        *used_until = now;
    if (*used_until - now > burst)
        return false;
    *used_until += interval;
    return true;
}

// Whether `only` keeps a slow call: judged by itself and the calls around it.
static __noinline bool is_kept(struct open_calls* calls, struct open_calls* around) {
    u64 now = calls->end.event.time_ns;
    u32 gate = gate_in_force(WIRE_GATE_ONLY), of_spans = 0;
    struct attached_spans* spans;
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    if (!around) {
        __builtin_memset(&thread, 0, sizeof(thread));
        thread.pid = calls->span_end.tgid;
        thread.tid = calls->span_end.tid;
        return gate_holds(gate, &thread, terms_of_call(&calls->ending, gate, now));
    }
    spans = spans_worked_for(calls);
    if (spans)
        of_spans = terms_of_attached_spans(spans, gate, now);
    describe_thread(bpf_get_current_task_btf(), &thread);
    return gate_holds(gate, &thread,
                      of_spans | terms_of_calls(around, gate, now, NULL) |
                          terms_of_call(&calls->ending, gate, now));
}

// Of its own, or the verifier would try every way through every turn of the loop that calls it.
__noinline int list_enclosing(struct open_call* call, struct wire_call* out) {
    if (!call || !out || !is_listed(call))
        return 0;
    out->start_ns = call->start_ns;
    out->sequence = call->sequence;
    out->spec = call->spec;
    out->generation = call->generation;
    call->end_asked++;
    return 1;
}

static __always_inline u32 list_calls_around(struct open_calls* calls, struct open_calls* around,
                                             struct wire_slow_call* slow) {
    struct attached_spans* spans = spans_worked_for(calls);
    u32 depth = around->depth, listed = spans ? list_spans_around(spans, slow) : 0;

    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth || listed >= WIRE_MAX_OPEN_CALLS)
            break;
        if (list_enclosing(&around->calls[i], &slow->call[listed & (WIRE_MAX_OPEN_CALLS - 1)]))
            listed++;
    }
    return listed;
}

// The calls around it last longer for this. Ticks meanwhile have been charged.
static __always_inline void charge_slow_call(const struct open_calls* calls,
                                             struct open_calls* around, u64 spent_ns) {
    u64 charged_ns = around->own_ns - calls->own_ns_at_end;

    if (spent_ns > charged_ns)
        charge(around, without_interruptions(spent_ns - charged_ns));
}

static __always_inline struct slow_report* take_report(void) {
    struct slow_report* report =
        thread_storage(&slow_reports, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);

    if (!take(report))
        report = take_spare();
    if (!report)
        count_loss(WIRE_LOSS_SLOW_MEMORY);
    return report;
}

static __always_inline void fill_slow_call(struct wire_slow_call* slow,
                                           const struct open_calls* calls) {
    slow->end = calls->end;
    slow->end.event.kind = WIRE_SLOW_CALL;
    slow->longest_wait = calls->ending.longest_wait;
    slow->threshold_ns = calls->threshold_ns;
}

// With the frames that its walk has left.
static __always_inline void send_report(struct slow_report* report, u32 frames) {
    u32 size = sizeof(report->record) + frames * sizeof(u64);

    report->record.user_frames = frames;
    report->record.end.event.size = size;
    if (size <= sizeof(report->record) + sizeof(report->walk.frames) &&
        bpf_ringbuf_output(&events, &report->record, size, wakeup_flags()))
        count_loss(WIRE_LOSS_RING_SLOW);
    give_back(report);
}

static __noinline bool is_exchange_kept(struct open_calls* calls) {
    u32 gate = gate_in_force(WIRE_GATE_ONLY);
    struct gate_thread thread;

    if (gate == NO_GATE)
        return true;
    thread.pid = calls->exchange.tgid;
    thread.tid = calls->exchange.tid;
    thread.cgroup = calls->exchange.cgroup;
    __builtin_memcpy(thread.comm, calls->exchange.comm, sizeof(thread.comm));
    return gate_holds(gate, &thread, terms_of_call(&calls->ending, gate, calls->exchange.sent_ns));
}

__noinline int trace_slow_exchange(struct open_calls* calls) {
    struct slow_report* report;
    struct wire_slow_call* slow;

    if (!calls)
        return 0;
    if (!is_exchange_kept(calls)) {
        count_gated_slow_call();
        return 0;
    }
    if (!within_slow_rate(bpf_ktime_get_ns())) {
        count_loss(WIRE_LOSS_SLOW_RATE);
        return 0;
    }
    report = take_report();
    if (!report)
        return 0;
    slow = &report->record;
    fill_slow_call(slow, calls);
    __builtin_memcpy(slow->comm, calls->exchange.comm, sizeof(slow->comm));
    slow->from_return = false;
    slow->enclosing = 0;
    slow->values.version = 0;
    send_report(report, 0);
    return 0;
}

__noinline int trace_slow_call(struct open_calls* calls, struct open_calls* around,
                               const struct wire_values* values, bool from_return, bool at_exit) {
    struct slow_report* report;
    struct wire_slow_call* slow;
    u64 spent_ns;

    if (!calls)
        return 0;
    if (!is_kept(calls, around)) {
        count_gated_slow_call();
        return 0;
    }
    if (!within_slow_rate(calls->end.event.time_ns)) {
        count_loss(WIRE_LOSS_SLOW_RATE);
        return 0;
    }
    report = take_report();
    if (!report)
        return 0;
    slow = &report->record;
    fill_slow_call(slow, calls);
    if (around)
        bpf_get_current_comm(slow->comm, sizeof(slow->comm));
    else
        __builtin_memset(slow->comm, 0, sizeof(slow->comm));
    slow->from_return = from_return;
    slow->enclosing = around ? list_calls_around(calls, around, slow) : 0;
    if (values)
        slow->values = *values;
    else
        slow->values.version = 0;
    send_report(report, around ? walk_user_stack(&report->walk, at_exit) : 0);
    spent_ns = bpf_ktime_get_ns() - calls->end.event.time_ns;
    if (around)
        charge_slow_call(calls, around, spent_ns);
    return without_interruptions(spent_ns);
}
