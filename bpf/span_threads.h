// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which thread works for a span: from its beginning or `resume` on, until it is parked or ends. Of
// the call tracker alone.
#ifndef AUGER_SPAN_THREADS_H
#define AUGER_SPAN_THREADS_H

#include "spans.h"

// What has been done for samples so far. Behind the clock, and at once: what comes later is in no
// duration.
static __always_inline void note_own_time(struct open_calls* calls) {
    calls->own_ns_at_end = *(volatile u64*)&calls->own_ns;
}

static __always_inline u64 name_of_spec(u16 spec, u16 generation) {
    return spec | (u64)generation << 16;
}

// The thread no longer works for what stands there.
static __always_inline void forget_attached(struct open_calls* calls,
                                            struct attached_span* attached) {
    attached->state = 0;
    calls->attached--;
}

static __always_inline void add_attached_time(const struct open_calls* calls,
                                              const struct attached_span* attached,
                                              struct wire_span* open, u64 now) {
    open->attached_ns += now - attached->since_ns;
    open->blocked_ns += calls->blocked_ns - attached->blocked_ns;
    open->runnable_ns += calls->runnable_ns - attached->runnable_ns;
    open->own_ns += calls->own_ns_at_end - attached->own_ns;
    open->attached_since_ns = 0;
}

// The thread's totals, from which on what it does is for the span.
static __always_inline void note_totals(const struct open_calls* calls,
                                        struct attached_span* attached, u64 now) {
    attached->since_ns = now;
    attached->blocked_ns = calls->blocked_ns;
    attached->runnable_ns = calls->runnable_ns;
    attached->own_ns = *(volatile u64*)&calls->own_ns;
}

static __always_inline void detach_span(struct open_calls* calls, struct attached_span* attached,
                                        u64 now) {
    struct span* span = attached_span(attached);

    if (span)
        add_attached_time(calls, attached, &span->open, now);
    forget_attached(calls, attached);
}

// Of its own, like others that a loop calls.
__noinline int is_span_of(const struct attached_span* attached, u64 name) {
    return attached && attached->state &&
           name_of_spec(attached->key.spec, attached->key.generation) == name;
}

__noinline int detach_if_same(struct open_calls* calls, struct attached_span* attached, u64 name,
                              u64 now) {
    if (calls && attached && is_span_of(attached, name))
        detach_span(calls, attached, now);
    return 0;
}

// The thread works for one span of a spec at a time.
__noinline int detach_spans_of(struct open_calls* calls, u64 name, u64 now) {
    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        detach_if_same(calls, &calls->spans.of[i], name, now);
    return 0;
}

__noinline int detach_if_it(struct open_calls* calls, struct attached_span* attached, u64 state,
                            u64 now) {
    if (calls && attached && attached->state == state)
        detach_span(calls, attached, now);
    return 0;
}

// The span that has, or had, this state.
__noinline int detach_span_of(struct open_calls* calls, u64 state, u64 now) {
    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        detach_if_it(calls, &calls->spans.of[i], state, now);
    return 0;
}

// Whether the thread works for that span still.
__noinline int works_for_it(const struct attached_span* attached) {
    return attached && attached->state && attached_span(attached);
}

__noinline int detach_one(struct open_calls* calls, struct attached_span* attached, u64 now) {
    if (calls && attached && attached->state)
        detach_span(calls, attached, now);
    return 0;
}

// The thread ends, or runs another program.
__noinline int detach_all_spans(struct open_calls* calls, u64 now) {
    if (!calls)
        return 0;
    note_own_time(calls);
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        detach_one(calls, &calls->spans.of[i], now);
    return 0;
}

__noinline int is_free(const struct attached_span* attached) {
    return attached && !attached->state;
}

// A place among the thread's; the one that was taken the longest ago where none is free.
__noinline u32 find_attached_place(struct open_calls* calls, u64 now) {
    u32 place;

    if (!calls)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_free(&calls->spans.of[i]))
            return i;
    }
    place = calls->next_attached++ & (WIRE_ATTACHED_SPANS - 1);
    detach_one(calls, &calls->spans.of[place], now);
    return place;
}

// A goroutine's place for a span of that name: it works for one of each, as threads do.
__noinline u32 find_place_of_worker(const struct attached_spans* spans, u64 name) {
    if (!spans)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_span_of(&spans->of[i], name))
            return i;
    }
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_free(&spans->of[i]))
            return i;
    }
    return name & (WIRE_ATTACHED_SPANS - 1);
}

static __always_inline struct attached_spans* spans_of_worker(const struct goroutine_key* worker) {
    // All zero: a new value for the map.
    static const struct goroutine_work none;
    struct goroutine_work* work = bpf_map_lookup_elem(&goroutine_spans, worker);

    if (work && is_work_of(work, worker))
        return &work->spans;
    bpf_map_update_elem(&goroutine_spans, worker, &none, BPF_ANY);
    work = bpf_map_lookup_elem(&goroutine_spans, worker);
    if (!work) {
        count_loss(WIRE_LOSS_STORAGE);
        return NULL;
    }
    note_owner_of_work(work, worker);
    // Goroutines that wait equally long must not be sampled alike.
    work->away.clock_ns = bpf_get_prandom_u32();
    work->only_helps = 1;
    return &work->spans;
}

// All waits of its goroutine are known when one took it up at once, and has worked for it ever
// since. `went_on`: it is the one that has.
static __always_inline void note_go_epoch(struct span* span, const struct goroutine_key* worker,
                                          bool went_on) {
    u32 tgid = worker->tgid;
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);

    if (!(span->open.flags & WIRE_SPAN_UNWATCHED) && !span->open.attached_ns)
        span->go_epoch = runtime && runtime->has_switches ? config.go_epoch : 0;
    else if (!went_on)
        span->go_epoch = 0;
}

// Whether the span is one of those that the goroutine works for.
__noinline int works_for(const struct goroutine_key* worker, const struct span* span, u64 state) {
    struct attached_spans* spans;
    struct goroutine_key key;
    u32 place;

    if (!worker || !span)
        return 0;
    // Old verifiers take keys from the stack and from maps only.
    key = *worker;
    spans = spans_of_goroutine(&key);
    if (!spans || !is_work_of((struct goroutine_work*)spans, &key))
        return 0;
    place =
        find_place_of_worker(spans, name_of_spec(span->open.key.spec, span->open.key.generation));
    return spans->of[place & (WIRE_ATTACHED_SPANS - 1)].state == state;
}

// In a Go program the goroutine works for it, on whatever thread. One that sends something while
// another works for it helps that. Likewise a task (polled_tasks.h), unless points say who works
// for the span: one may be resumed before its runtime has noted it.
__noinline int attach_to_worker(struct span* span, u64 state, u32 sends) {
    struct goroutine_key worker, owner;
    struct attached_span* attached;
    struct attached_spans* spans;
    u64 name, before;
    int kind;

    if (!span)
        return 0;
    before = span->g;
    kind = find_worker(&worker);
    if (kind == WORKER_IS_TASK && span->open.flags & WIRE_SPAN_IS_RESUMED)
        kind = 0;
    spans = kind && worker.g ? spans_of_worker(&worker) : NULL;
    if (!spans) {
        span->g = 0;
        return 0;
    }
    owner.g = before;
    owner.tgid = worker.tgid;
    owner.padding = 0;
    if (!sends || !before || before == worker.g || !works_for(&owner, span, state))
        owner.g = worker.g;
    name = name_of_spec(span->open.key.spec, span->open.key.generation);
    attached = &spans->of[find_place_of_worker(spans, name) & (WIRE_ATTACHED_SPANS - 1)];
    if (owner.g == worker.g) {
        note_go_epoch(span, &worker, before == worker.g && attached->state == state);
        ((struct goroutine_work*)spans)->only_helps = 0;
    }
    attached->state = 0;
    barrier();
    attached->key = span->open.key;
    attached->g = owner.g;
    barrier();
    attached->state = state;
    span->g = owner.g;
    span->open.flags |= WIRE_SPAN_UNWATCHED;
    goroutines_work_for_spans = 1;
    return 0;
}

// Whether the span is still the one of its name that the goroutine works for which runs now; also 1
// where no goroutine does, nor did.
__noinline int is_with_worker(const struct span* span, u64 state) {
    struct goroutine_key worker;

    if (!span)
        return 0;
    if (!find_worker(&worker) || !worker.g)
        return !span->g;
    return span->g == worker.g && works_for(&worker, span, state);
}

// The thread works for the span from now on. `sends`: since it has sent something, in an exchange.
__noinline int attach_span(struct open_calls* calls, struct span* span, u64 state, u64 now,
                           u32 sends) {
    struct attached_span* attached;
    struct wire_span* open;

    if (!calls || !span)
        return 0;
    open = &span->open;
    // It may be this one, and then goes on.
    detach_spans_of(calls, name_of_spec(open->key.spec, open->key.generation), now);
    if (open->flags & WIRE_SPAN_IS_QUEUED) {
        open->flags &= ~WIRE_SPAN_IS_QUEUED;
        open->queued_ns = now - open->start_ns;
    }
    if (open->attached_since_ns) {
        // From another thread, whose totals are not at hand.
        open->attached_ns += now - open->attached_since_ns;
        open->flags |= WIRE_SPAN_UNWATCHED;
    }
    attached = &calls->spans.of[find_attached_place(calls, now) & (WIRE_ATTACHED_SPANS - 1)];
    attached->key = open->key;
    attached->g = 0;
    attached->tid = (u32)bpf_get_current_pid_tgid();
    note_totals(calls, attached, now);
    open->tid = attached->tid;
    open->tgid = bpf_get_current_pid_tgid() >> 32;
    open->attached_since_ns = now;
    calls->attached++;
    barrier();
    attached->state = state;
    attach_to_worker(span, state, sends);
    return 0;
}

// Which of the thread's is of this spec; WIRE_ATTACHED_SPANS: none.
__noinline u32 find_attached(const struct open_calls* calls, u64 name) {
    if (!calls)
        return WIRE_ATTACHED_SPANS;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_span_of(&calls->spans.of[i], name))
            return i;
    }
    return WIRE_ATTACHED_SPANS;
}

#endif
