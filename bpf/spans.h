/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The spans that a thread works for, as the samplers, gates and lines see them. Points of spans are
 * reached on any thread, so another CPU may end a span at any time: it is the one that a thread
 * means as long as its number is the same, and its thread this one.
 */
#ifndef AUGER_SPANS_H
#define AUGER_SPANS_H

#include "goroutine_spans.h"
#include "maps.h"
#include "sample.h"

/* The open span of that key, whose state is left in `*state`; NULL: there is none. The state is
 * read before the key: one that is still the same later is that of a span with this key. */
static __always_inline struct span* find_span(const struct wire_span_key* key, u64* state) {
    struct span* span = bpf_map_lookup_elem(&spans, key);

    if (!span)
        return NULL;
    *state = load_acquire(&span->open.state);
    if (!(*state & 1) || span->open.key.key != key->key || span->open.key.tgid != key->tgid ||
        span->open.key.spec != key->spec || span->open.key.generation != key->generation)
        return NULL;
    return span;
}

/* That the thread or the goroutine works for; NULL: it is over, or another one took over. */
static __always_inline struct span* attached_span(const struct attached_span* attached) {
    /* Old verifiers take keys from the stack and from maps only. */
    struct wire_span_key key = attached->key;
    struct span* span;
    u64 state;

    if (!attached->state)
        return NULL;
    span = find_span(&key, &state);
    if (!span || state != attached->state)
        return NULL;
    return (attached->g ? span->g == attached->g : span->open.tid == attached->tid) ? span : NULL;
}

/* Lists them as calls that a sample is taken in; `count`: and counts it in each. */
int list_attached_spans(struct attached_spans* spans, struct sample_buffer* buffer, bool count);

/* Of a thread that comes back from a wait, in which it was runnable for so long: as charge_calls().
 * `g`: the goroutine that waited with it; 0: none did, or not all the time. */
int charge_attached_spans(struct attached_spans* spans, const struct wire_wait* wait,
                          u64 runnable_ns, bool sampled, u64 g);

/* Of one whose end the off-CPU sampler has not seen, nor whether it is a sample. */
int charge_unseen_wait_to_spans(struct attached_spans* spans, const struct wire_wait* wait);

/* Likewise those that goroutine `g` works for itself, which was parked. */
int list_parked_spans(struct attached_spans* spans, struct sample_buffer* buffer, u64 g);

/* ... and charges them: `wait` is what it was parked for. */
int charge_parked_spans(struct attached_spans* spans, const struct wire_wait* wait, u64 queued_ns,
                        bool sampled, u64 g);

/* A line is executed: marks that hold for them. */
int mark_attached_spans(struct attached_spans* spans, u32 marks);

/* The thread waits for whatever comes next: it works for no exchange until that does. Of the
 * tracker. */
int leave_exchanges(struct open_calls* calls, u64 now);

/* As terms_of_calls(). */
int terms_of_attached_spans(struct attached_spans* spans, u32 gate, u64 now);

/* Lists them as calls around a slow one; how many. */
int list_spans_around(struct attached_spans* spans, struct wire_slow_call* slow);

#endif
