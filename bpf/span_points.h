// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Points of spans: a span begins, ends, is parked and resumed. Of the call tracker alone.
//
// Of each span there is one element in the map `spans`, under its key. Who ends it takes `open` out
// of its state first, by a compare-and-swap, so that of several CPUs one does; the element goes
// afterwards. begins = entries of the span's spec = returns + unwound (`unended`: another one began
// with its key, or the process ended) + expired + open + dropped.
#ifndef AUGER_SPAN_POINTS_H
#define AUGER_SPAN_POINTS_H

#include "call_counters.h"
#include "call_ends.h"
#include "call_owners.h"
#include "call_parts.h"
#include "call_values.h"
#include "slow_tracer.h"
#include "span_threads.h"
#include "thread_storage.h"

/* By spec. Written by the tracker, read by user space. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, u32);
    __type(value, struct wire_span_counts);
} span_counts SEC(".maps");

/* One element: the number of the CPU's last span; numbers of several CPUs differ in the low bits.
 * Tracker only. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} span_numbers SEC(".maps");

/* Where a span is put together before it is entered: a thread's, since a uprobe's program may be
 * preempted. Tracker only. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct span);
} fresh_spans SEC(".maps");

/* The same of tracepoints, which a uprobe's program may be interrupted by: the CPU's, see
 * tracepoint_hit.h. One element. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct span);
} fresh_tracepoint_spans SEC(".maps");

enum { CPU_BITS = 13, EEXIST = 17 };

static __always_inline u64 next_span_state(void) {
    u32 zero = 0;
    u64* last = bpf_map_lookup_elem(&span_numbers, &zero);
    u64 number = last ? __sync_fetch_and_add(last, 1) + 1 : bpf_ktime_get_ns();

    return (number << CPU_BITS | bpf_get_smp_processor_id()) << 1 | 1;
}

static __always_inline struct wire_span_counts* span_counts_of(u32 spec) {
    return bpf_map_lookup_elem(&span_counts, &spec);
}

static __always_inline void count_stray(u32 spec) {
    struct wire_span_counts* counts = span_counts_of(spec);

    if (counts)
        __sync_fetch_and_add(&counts->stray, 1);
}

// What the goroutine did that worked for calls->ending, a span; false: it is not `known`, or none
// did.
static __always_inline bool note_goroutine_times(struct open_calls* calls, const struct span* span,
                                                 const struct goroutine_times* times, bool known) {
    known = known && span->g && span->go_epoch && span->go_epoch == config.go_epoch;
    calls->span_end.of_goroutine = span->g != 0;
    calls->span_end.is_watched = known;
    if (!known)
        return false;
    calls->span_end.goroutine = *times;
    calls->ending.blocked_ns = calls->blocked_ns - times->blocked_ns;
    calls->ending.runnable_ns = calls->runnable_ns - times->runnable_ns;
    return true;
}

// Whether user space has samples of the task whose span it is, which waited in it.
static __always_inline bool was_waited_in(const struct wire_span* open) {
    struct wire_waiting_task task = {};
    const u8* waits;

    if (!config.with_waiting_tasks || open->flags & WIRE_SPAN_IS_EXCHANGE)
        return false;
    task.task = open->key.key;
    task.tgid = open->key.tgid;
    waits = bpf_map_lookup_elem(&waiting_tasks, &task);
    return waits && *waits & WIRE_WAITING_IN_SPAN;
}

// Makes the span calls->ending, as if it were a call of the thread's that ends now, and takes its
// element out. 0: another CPU did.
__noinline int take_span_out(struct open_calls* calls, struct span* span, u64 state, u64 now) {
    struct wire_span_key key;
    struct attached_span* attached;
    struct open_call* ending;
    struct wire_span* open;
    u32 place;
    u64 own_ns;

    if (!calls || !span)
        return 0;
    open = &span->open;
    key = open->key;
    // Nobody else writes to it from here on: it is not open, and is deleted below.
    if (__sync_val_compare_and_swap(&open->state, state, state - 1) != state)
        return 0;
    place = find_attached(calls, name_of_spec(key.spec, key.generation));
    if (place < WIRE_ATTACHED_SPANS) {
        attached = &calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)];
        if (attached->state == state) {
            if (open->tid == attached->tid)
                add_attached_time(calls, attached, open, now);
            forget_attached(calls, attached);
        }
    }
    if (open->attached_since_ns) {
        open->attached_ns += now - open->attached_since_ns;
        open->flags |= WIRE_SPAN_UNWATCHED;
    }
    if (open->flags & WIRE_SPAN_IS_QUEUED)
        open->queued_ns = now - open->start_ns;
    ending = &calls->ending;
    *ending = span->call;
    if (!is_end_wanted(ending) && was_waited_in(open))
        ending->samples = 1;
    ending->own_ns = calls->own_ns_at_end - open->own_ns;
    ending->blocked_ns = calls->blocked_ns - open->blocked_ns;
    ending->runnable_ns = calls->runnable_ns - open->runnable_ns;
    // Another goroutine knows nothing of a wait that its own is still in.
    if (!note_goroutine_times(calls, span, &span->of_goroutine,
                              span->g && span->g == current_worker()) &&
        (open->flags & WIRE_SPAN_UNWATCHED))
        ending->wall_epoch = 0;
    // What is told of it beside what is told of all calls.
    own_ns = open->own_ns < open->attached_ns ? open->own_ns : open->attached_ns;
    calls->span_end.queued_ns = open->queued_ns;
    calls->span_end.tgid = open->tgid;
    calls->span_end.tid = open->tid;
    calls->span_end.attached_ns = open->attached_ns - own_ns;
    bpf_map_delete_elem(&spans, &key);
    return 1;
}

// Its goroutine was on threads whenever it was not seen to be on none. Where switches were not
// watched, nobody knows how much of it that was: the time is in none of the sums.
static __always_inline void note_times_of_goroutine(struct open_calls* calls, u64 served) {
    u64 parked = 0, queued = 0;

    calls->span_end.attached_ns = 0;
    if (!calls->span_end.is_watched)
        return;
    parked = calls->span_end.goroutine.parked_ns;
    queued = calls->span_end.goroutine.queued_ns;
    if (parked > served)
        parked = served;
    if (queued > served - parked)
        queued = served - parked;
    calls->span_end.attached_ns = served - parked - queued;
    calls->span_end.parked_ns = parked;
    calls->span_end.queued_ns += queued;
}

static __always_inline void note_span_times(struct open_calls* calls, u64 duration) {
    u64 queued = calls->span_end.queued_ns, served = duration > queued ? duration - queued : 0;

    if (calls->span_end.of_goroutine)
        note_times_of_goroutine(calls, served);
    else
        calls->span_end.parked_ns =
            served > calls->span_end.attached_ns ? served - calls->span_end.attached_ns : 0;
}

static __always_inline void add_span_times(struct wire_call_end* end,
                                           const struct open_calls* calls) {
    end->parked_ns = calls->span_end.parked_ns;
    end->queued_ns = calls->span_end.queued_ns;
}

// Of calls->ending, a span that does not return.
static __always_inline void tell_unended(struct open_calls* calls, u64 now) {
    fill_end(&calls->end, calls, &calls->ending, now);
    note_span_times(calls, calls->end.duration_ns);
    add_span_times(&calls->end, calls);
    calls->end.flags |= WIRE_CALL_UNWOUND;
    // Who finds it out may be another process.
    calls->end.event.pid = calls->span_end.tgid;
    calls->end.event.tid = calls->span_end.tid;
    if (is_end_wanted(&calls->ending))
        send_end(calls);
}

// Another one begins with its key, or its process is over.
__noinline int end_unended(struct open_calls* calls, struct span* span, u64 state, u64 now) {
    struct wire_call_counters* counters;

    if (!calls || !span || !take_span_out(calls, span, state, now))
        return 0;
    counters = counters_of(calls->ending.spec);
    if (!counters || !is_current(&calls->ending))
        return 0;
    __sync_fetch_and_add(&counters->unwound, 1);
    __sync_fetch_and_add(&counters->open, -1);
    tell_unended(calls, now);
    return 0;
}

static __always_inline void count_span_times(const struct open_calls* calls, u32 spec) {
    struct wire_span_counts* counts = span_counts_of(spec);
    const struct open_call* ending = &calls->ending;

    if (!counts)
        return;
    __sync_fetch_and_add(&counts->attached_ns, calls->span_end.attached_ns);
    __sync_fetch_and_add(&counts->queued_ns, calls->span_end.queued_ns);
    __sync_fetch_and_add(&counts->parked_ns, calls->span_end.parked_ns);
    if (!ending->wall_epoch || ending->wall_epoch != config.wall_epoch)
        return;
    __sync_fetch_and_add(&counts->watched_ns, calls->span_end.attached_ns);
    __sync_fetch_and_add(&counts->blocked_ns, calls->blocked_ns - ending->blocked_ns);
    __sync_fetch_and_add(&counts->runnable_ns, calls->runnable_ns - ending->runnable_ns);
}

// Of an explained span it is told where its time went. It has no parts: calls that go on while
// their thread turns to another span would be in both.
__noinline int tell_whole_span(struct open_calls* calls, u64 now) {
    struct wire_call_parts* parts;

    if (!calls)
        return 0;
    // What was explained in this thread before is not any more.
    miss_part(calls);
    parts = begin_parts();
    if (!parts)
        return 0;
    fill_end(&parts->end, calls, &calls->ending, now);
    add_span_times(&parts->end, calls);
    parts->incomplete = 0;
    send_parts(parts);
    return 0;
}

static __always_inline void end_span(struct open_calls* calls, struct open_calls* around,
                                     const struct wire_span_key* key, const struct wire_spec* spec,
                                     u32 flags, u64 now) {
    struct wire_call_counters* counters = counters_of(key->spec);
    struct wire_call_histogram* histogram = histogram_of(key->spec);
    struct wire_values* values = NULL;
    struct span* span;
    u64 state, duration, slow_ns;

    if (!counters || !histogram)
        return;
    span = find_span(key, &state);
    if (!span || !take_span_out(calls, span, state, now)) {
        // Anywhere most of what ends is others', who are none of ours.
        if (!(flags & WIRE_SPAN_ANYWHERE))
            count_stray(key->spec);
        return;
    }
    // In an interrupt the thread that is here may have nothing to do with it.
    if ((flags & WIRE_SPAN_ANYWHERE) && calls->span_end.tid != (u32)bpf_get_current_pid_tgid())
        around = NULL;
    duration = duration_of(calls, &calls->ending, now);
    note_span_times(calls, duration);
    count_duration(counters, histogram, duration);
    count_span_times(calls, key->spec);
    if (spec->counted_marks)
        count_marks(&calls->ending, spec->counted_marks);
    count_return(counters);
    // At a tracepoint the parts may be those of whom an interrupt came upon.
    if (spec->part == WIRE_PART_WHOLE && around == calls)
        tell_whole_span(calls, now);
    slow_ns = *(volatile u64*)&spec->slow_ns; // which an edit may change at any time
    if ((!(spec->flags & WIRE_SPEC_TRACE_SLOW) || duration <= slow_ns) &&
        !is_end_wanted(&calls->ending))
        return;
    fill_end(&calls->end, calls, &calls->ending, now);
    add_span_times(&calls->end, calls);
    if (!around) {
        calls->end.event.pid = calls->span_end.tgid;
        calls->end.event.tid = calls->span_end.tid;
    }
    if (!(spec->flags & WIRE_SPEC_TRACE_SLOW) || duration <= slow_ns) {
        send_end(calls);
        return;
    }
    calls->threshold_ns = slow_ns;
    calls->end.flags |= WIRE_CALL_SLOW;
    if (is_end_wanted(&calls->ending))
        send_end(calls);
    // At a tracepoint the thread may work for something else.
    if (spec->program && around == calls && note_span_values(calls, &calls->ending))
        values = values_of(&calls->ending);
    count_tracing(key->spec, trace_slow_call(calls, around, values, false, false));
}

// Enters a new span; false: there is no room for it.
// `quiet_ns`: of an exchange; 0: it is none.
static __always_inline bool enter_span(struct open_calls* calls, bool at_tracepoint,
                                       const struct wire_span_key* key, u64 limit_ns, u32 flags,
                                       u64 quiet_ns, u64 now) {
    struct span *span, *fresh;
    u32 zero = 0;
    u64 state = next_span_state(), entered;
    int error; // before Linux 6.4 the helper leaves the upper half as it was

    // Looked up here: old verifiers take what is entered in a map from the stack and from maps
    // only.
    if (at_tracepoint)
        fresh = bpf_map_lookup_elem(&fresh_tracepoint_spans, &zero);
    else
        fresh = thread_storage(&fresh_spans, bpf_get_current_task_btf(),
                               BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!fresh) {
        count_loss(WIRE_LOSS_STORAGE);
        return false;
    }
    __builtin_memset(fresh, 0, sizeof(*fresh));
    fresh->open.state = state;
    fresh->open.key = *key;
    fresh->open.start_ns = now;
    fresh->open.expires_ns = limit_ns ? now + limit_ns : 0;
    fresh->open.flags = flags & WIRE_SPAN_QUEUED ? WIRE_SPAN_IS_QUEUED : 0;
    if (flags & WIRE_SPAN_RESUMED)
        fresh->open.flags |= WIRE_SPAN_IS_RESUMED;
    if (quiet_ns)
        fresh->open.flags |= WIRE_SPAN_IS_EXCHANGE;
    fresh->exchange.quiet_ns = quiet_ns;
    fresh->open.tid = (u32)bpf_get_current_pid_tgid();
    fresh->open.tgid = bpf_get_current_pid_tgid() >> 32;
    fresh->open.sequence = next_sequence(calls, true);
    fresh->call.start_ns = now;
    fresh->call.sequence = fresh->open.sequence;
    fresh->call.spec = key->spec;
    fresh->call.generation = key->generation;
    fresh->call.value_slot = NO_VALUE_SLOT;
    fresh->call.wall_epoch = config.wall_epoch;
    error = bpf_map_update_elem(&spans, key, fresh, BPF_NOEXIST);
    // One with this key is open, or another CPU is ending it, which takes a moment.
    for (int tries = 0; tries < 4 && error == -EEXIST; tries++) {
        span = find_span(key, &entered);
        if (span)
            end_unended(calls, span, entered, now);
        error = bpf_map_update_elem(&spans, key, fresh, BPF_NOEXIST);
    }
    if (error) {
        count_loss(error == -EEXIST ? WIRE_LOSS_SPAN_RACE : WIRE_LOSS_SPANS);
        return false;
    }
    if (flags & WIRE_SPAN_QUEUED)
        return true;
    span = find_span(key, &entered);
    if (span && entered == state)
        attach_span(calls, span, state, now, 0);
    return true;
}

static __always_inline void begin_span(struct open_calls* calls, bool at_tracepoint,
                                       const struct wire_span_key* key,
                                       const struct wire_spec* spec, u32 flags, u64 now) {
    struct wire_call_counters* counters = counters_of(key->spec);
    u64 state;

    if (!counters || ((flags & WIRE_SPAN_KEEP) && find_span(key, &state)))
        return;
    __sync_fetch_and_add(&counters->entries, 1);
    if (enter_span(calls, at_tracepoint, key, spec->limit_ns, flags, 0, now))
        __sync_fetch_and_add(&counters->open, 1);
    else
        __sync_fetch_and_add(&counters->dropped, 1);
}

// Reached by another thread than the one that works for it, or did last.
static __always_inline void park_elsewhere(struct wire_span* open, u64 now) {
    if (!open->attached_since_ns)
        return;
    open->attached_ns += now - open->attached_since_ns;
    open->attached_since_ns = 0;
    open->flags |= WIRE_SPAN_UNWATCHED;
    open->tid = 0; // so that the thread no longer means it: attached_span()
}

// The current thread is at a point of a span, whose key is `value` where it has one, or else that
// of the goroutine that runs, or 0. At a tracepoint `calls` are the CPU's, and `around` is the
// thread's (NULL: it is not observed). At all others both are the same.
__noinline int reach_span_point(struct open_calls* calls, struct open_calls* around,
                                bool at_tracepoint, u32 point_spec, u64 value) {
    u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns(), name, state;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &point_spec);
    struct wire_span_point point;
    struct wire_span_key key;
    struct span* span;
    u32 index;

    if (!calls || !spec)
        return 0;
    note_own_time(calls);
    point = spec->point;
    index = point.spec;
    spec = bpf_map_lookup_elem(&specs, &index);
    if (!spec || (u16)spec->generation != point.generation || !(spec->flags & WIRE_SPEC_ENABLED))
        return 0;
    key.tgid = point.flags & WIRE_SPAN_ANYWHERE ? 0 : id >> 32;
    key.spec = point.spec;
    key.generation = point.generation;
    key.key = value || point.flags & WIRE_SPAN_KEYED ? value : (u32)id;
    name = name_of_spec(point.spec, point.generation);
    if (!value && !(point.flags & WIRE_SPAN_KEYED) && point.role != WIRE_SPAN_BEGIN) {
        u32 place = find_attached(calls, name);

        // Not one that another thread has taken up since.
        if (place < WIRE_ATTACHED_SPANS &&
            works_for_it(&calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)]))
            key.key = calls->spans.of[place & (WIRE_ATTACHED_SPANS - 1)].key.key;
    }
    switch (point.role) {
    case WIRE_SPAN_BEGIN:
        begin_span(calls, at_tracepoint, &key, spec, point.flags, now);
        break;
    case WIRE_SPAN_END:
        end_span(calls, around, &key, spec, point.flags, now);
        break;
    case WIRE_SPAN_PARK:
        span = find_span(&key, &state);
        if (span) {
            span->g = 0;
            span->go_epoch = 0;
        }
        // The thread may have gone on to another one of this name.
        if (span && span->open.tid == (u32)id)
            detach_span_of(calls, state, now);
        else if (span && (point.flags & WIRE_SPAN_ANYWHERE))
            park_elsewhere(&span->open, now);
        break;
    case WIRE_SPAN_RESUME:
        span = find_span(&key, &state);
        if (span)
            attach_span(calls, span, state, now, 0);
        break;
    }
    return 0;
}

// While the spans that a thread works for are changed: see tracepoint_hit.h.
static __always_inline void keep_tracepoints_out(struct open_calls* calls) {
    *(volatile u32*)&calls->spans_busy = 1;
    barrier();
}

static __always_inline void let_tracepoints_in(struct open_calls* calls) {
    barrier();
    *(volatile u32*)&calls->spans_busy = 0;
}

// ... but not at a tracepoint.
static __always_inline void reach_point_of_span(struct open_calls* calls, u32 point_spec,
                                                const struct wire_spec* spec, u64 value) {
    if (!(spec->point.flags & WIRE_SPAN_KEYED))
        value = running_goroutine();
    keep_tracepoints_out(calls);
    reach_span_point(calls, calls, false, point_spec, value);
    let_tracepoints_in(calls);
}

#endif
