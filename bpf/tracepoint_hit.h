// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A tracepoint of the kernel's is hit: counted, and traced, or a point of a span. Of the call
// tracker alone.
//
// It may be hit anywhere in the kernel, in an interrupt, too: in the middle of a uprobe's program
// on this CPU and in this very thread, and by a thread that is not of the target. So
// - what the program writes while it works is the CPU's, and these programs' alone. The kernel lets
//   one program of the kinds tracepoint, kprobe and perf event run on a CPU at a time, with
//   preemption off (trace_call_bpf()), so nobody has it twice: a tracepoint that is hit while this
//   runs (in an interrupt, or by what this does) runs no program, and is counted as missed by the
//   kernel. So it cannot recurse either, and neither does the sampler come in between;
// - of the thread's open calls it writes only the spans that the thread works for, and not while
// the
//   thread is at a point of a span itself (spans_busy);
// - maps are safe by themselves: the kernel holds their locks with interrupts off, and answers
//   -EBUSY to an NMI that comes in between; task storage is not made while somebody is at it;
// - a beginning is a target's thread's. Ends and parks that have a key are anybody's.
#ifndef AUGER_TRACEPOINT_HIT_H
#define AUGER_TRACEPOINT_HIT_H

#include "call_owners.h"
#include "place_hits.h"
#include "span_points.h"
#include "thread_storage.h"

struct tracepoint_work {
    struct open_calls calls; /* stands in for the thread's */
    struct record_values values;
};

/* One element. Of the programs at tracepoints alone. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct tracepoint_work);
} tracepoint_work SEC(".maps");

// As calls_of_observed(), which remembers what it finds, and so writes.
static __always_inline bool is_observed_thread(const struct task_struct* task,
                                               const struct open_calls* calls) {
    u32 scope = *(volatile u32*)&config.scope;

    if (calls && scope && calls->scope == scope)
        return true;
    return task->pid && is_observed(task->tgid, task->pid);
}

// The spans that the thread works for, and its sums.
static __always_inline void take_over(struct open_calls* to, const struct open_calls* from) {
    if (!from) {
        __builtin_memset(&to->spans, 0, sizeof(to->spans));
        to->attached = 0;
        to->blocked_ns = to->runnable_ns = to->own_ns = 0;
        return;
    }
    to->spans = from->spans;
    to->attached = from->attached;
    to->next_attached = from->next_attached;
    to->blocked_ns = from->blocked_ns;
    to->runnable_ns = from->runnable_ns;
    to->own_ns = from->own_ns;
}

static __always_inline void give_back_spans(struct open_calls* to, const struct open_calls* from) {
    to->spans = from->spans;
    to->attached = from->attached;
    to->next_attached = from->next_attached;
}

// `thread` is the current one's open calls, where it is observed and has some.
static __always_inline void reach_at_tracepoint(struct tracepoint_work* work,
                                                struct open_calls* thread, bool observed,
                                                const struct wire_span_point* point, u32 spec,
                                                u64 key) {
    bool begins = point->role == WIRE_SPAN_BEGIN || point->role == WIRE_SPAN_RESUME;

    if (observed && !thread && begins) {
        thread =
            thread_storage(&open_calls, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (!thread) {
            count_loss(WIRE_LOSS_STORAGE);
            return;
        }
    }
    if (thread && *(volatile u32*)&thread->spans_busy) {
        if (begins || !(point->flags & WIRE_SPAN_KEYED)) {
            count_loss(WIRE_LOSS_SPAN_INTERRUPTED);
            return;
        }
        thread = NULL;
    }
    take_over(&work->calls, thread);
    reach_span_point(&work->calls, thread, true, spec, key);
    if (thread)
        give_back_spans(thread, &work->calls);
}

// Of an observed thread; `thread` is null where it has no open calls yet.
static __always_inline void trace_at_tracepoint(struct tracepoint_work* work,
                                                struct open_calls* thread, u64 cookie,
                                                struct wire_values* values) {
    if (!thread) {
        thread =
            thread_storage(&open_calls, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (!thread) {
            count_loss(WIRE_LOSS_STORAGE);
            return;
        }
    }
    take_over(&work->calls, *(volatile u32*)&thread->spans_busy ? NULL : thread);
    fill_hit(&work->calls, thread, cookie, bpf_ktime_get_ns());
    count_tracing(spec_index(cookie), trace_slow_call(&work->calls, thread, values, false, false));
}

static __always_inline int hit_tracepoint(void* record) {
    u64 cookie = bpf_get_attach_cookie(record), key = 0;
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct task_struct* task = bpf_get_current_task_btf();
    struct wire_call_counters* counters;
    struct tracepoint_work* work;
    struct wire_span_point point;
    struct open_calls* thread;
    bool observed;
    u32 zero = 0, verdict = 0;

    if (!spec)
        return 0;
    counters = counters_of(spec_index(cookie));
    work = bpf_map_lookup_elem(&tracepoint_work, &zero);
    if (!counters || !work)
        return 0;
    __sync_fetch_and_add(&counters->entry_hits, 1);
    point = spec->point;
    thread = thread_storage(&open_calls, task, 0);
    observed = is_observed_thread(task, thread);
    if (!observed) {
        thread = NULL;
        if (!(point.flags & WIRE_SPAN_ANYWHERE) || !(point.flags & WIRE_SPAN_KEYED) ||
            (point.role != WIRE_SPAN_END && point.role != WIRE_SPAN_PARK))
            return 0;
    }
    __sync_fetch_and_add(&counters->entries, 1);
    if (spec->program) {
        struct open_call* call = &work->calls.ending;

        call->sequence = 0;
        call->spec = spec_index(cookie);
        call->generation = generation_of(cookie);
        work->values.registers.value[REGISTER_RECORD] = (u64)record;
        verdict = read_record(&work->values, call);
        if (verdict & VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->filtered, 1);
            return 0;
        }
        if ((point.flags & WIRE_SPAN_KEYED) &&
            read_record_key(&work->values, call, &key) != KEY_KNOWN) {
            __sync_fetch_and_add(&counters->filtered, 1);
            count_loss(WIRE_LOSS_SPAN_KEY);
            return 0;
        }
    }
    __sync_fetch_and_add(&counters->returns, 1);
    if (point.role != WIRE_SPAN_NONE)
        reach_at_tracepoint(work, thread, observed, &point, spec_index(cookie), key);
    else if ((spec->flags & WIRE_SPEC_TRACE_SLOW) && !(verdict & VERDICT_NOT_TRACED))
        trace_at_tracepoint(work, thread, cookie, spec->program ? &work->values.own.values : NULL);
    return 0;
}

#endif
