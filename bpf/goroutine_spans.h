/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The spans that goroutines work for. A goroutine goes from thread to thread, and a thread from
 * goroutine to goroutine, hundreds of times in a span: so what runs in a Go program works for the
 * spans of its goroutine, whatever its thread has taken up. How long threads worked for one is not
 * known then (WIRE_SPAN_UNWATCHED), but, where the runtime's switches are watched, how long the
 * goroutine was on no thread.
 *
 * Likewise tasks of tokio's and Java's virtual threads (polled_tasks.h), known by their numbers,
 * whose switches are not watched. A thread that runs none works for spans as threads of other
 * programs do.
 */
#ifndef AUGER_GOROUTINE_SPANS_H
#define AUGER_GOROUTINE_SPANS_H

#include "goroutine.h"
#include "maps.h"

/* A goroutine helps the one that made it with the spans that that works for, as long as it does:
 * what it does is sampled in them, but is none of their time, which passes only once. */
struct goroutine_work {
    struct attached_spans spans; /* first: who has one of these has the other */
    struct goroutine_absence away;
    u64 id;         /* of the goroutine; 0: not known. Its g becomes another's when it has ended */
    u32 only_helps; /* 1: none of the spans is its own */
    u32 padding;
};

/* Written by the tracker and by the program at the runtime's switches; read by the
 * samplers, gates and lines. LRU: those of goroutines that are gone give way to new ones. */
struct goroutine_spans_map {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, WIRE_GO_WORKERS);
    __type(key, struct goroutine_key);
    __type(value, struct goroutine_work);
};

extern struct goroutine_spans_map goroutine_spans SEC(".maps");

/* 1 from when a goroutine has been seen to work for a span. */
extern __u32 goroutines_work_for_spans;

enum worker_kind {
    WORKER_IS_GOROUTINE = 1,
    WORKER_IS_TASK = 2, /* of polled_tasks.h */
};

/* The goroutine that the current thread works for; g 0: it works for none. Or the task that it
 * runs. Returns a worker_kind; 0 when the thread is none of Go's, or not known to be, and runs
 * none. */
int find_worker(struct goroutine_key* worker);

/* ... and 0 in both cases. */
static __always_inline u64 current_worker(void) {
    struct goroutine_key worker;

    return find_worker(&worker) ? worker.g : 0;
}

/* Whether `work` is that worker's, one of the current process, and not of a goroutine that had the
 * same g before it. */
int is_work_of(const struct goroutine_work* work, const struct goroutine_key* worker);
/* It is from now on. */
int note_owner_of_work(struct goroutine_work* work, const struct goroutine_key* worker);

/* What no other goroutine of the process has, of the one that runs: a key of spans that no thread
 * has. 0: none runs. A function of its own, whose stack is not needed any more where others are
 * walked. */
u64 running_goroutine(void);

/* The spans that the goroutine works for; NULL: there are none. */
static __always_inline struct attached_spans*
spans_of_goroutine(const struct goroutine_key* worker) {
    return worker->g ? bpf_map_lookup_elem(&goroutine_spans, worker) : NULL;
}

/* Whether one of them is not over. */
int is_any_span_open(struct attached_spans* spans);

/* The worker, and its spans, that count for the current thread. False: the thread's own do. A task
 * without spans leaves them to its thread, a goroutine does not. */
static __always_inline bool find_worker_of_spans(struct goroutine_key* worker,
                                                 struct attached_spans** spans) {
    int kind = find_worker(worker);

    if (!kind)
        return false;
    *spans = spans_of_goroutine(worker);
    if (*spans && !is_work_of((struct goroutine_work*)*spans, worker))
        *spans = NULL;
    return kind == WORKER_IS_GOROUTINE || (*spans && is_any_span_open(*spans));
}

/* The spans that the current thread works for, whose open calls these are; NULL: there are none. */
static __always_inline struct attached_spans* spans_worked_for(struct open_calls* calls) {
    struct attached_spans* spans;
    struct goroutine_key worker;

    if (*(volatile u32*)&goroutines_work_for_spans && find_worker_of_spans(&worker, &spans))
        return spans;
    return calls && calls->attached ? &calls->spans : NULL;
}

#endif
