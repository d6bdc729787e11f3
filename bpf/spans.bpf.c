// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What is asked of the spans that a thread works for. Functions of their own, verified once: also
// what a loop does in a turn, or the verifier would try every way through every turn.
#include "spans.h"
#include "gate.h"

static __always_inline void name_call(const struct open_call* call, struct wire_call* out) {
    out->start_ns = call->start_ns;
    out->sequence = call->sequence;
    out->spec = call->spec;
    out->generation = call->generation;
}

// As attached_span(), but what a goroutine or another worker works for is not its thread's.
static __always_inline struct span* span_worked_for(const struct attached_span* attached) {
    struct span* span = attached_span(attached);

    return span && span->g == attached->g ? span : NULL;
}

__noinline int list_attached_span(const struct attached_span* attached,
                                  struct sample_buffer* buffer, bool count) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    if (!span || !buffer || buffer->sample.calls >= WIRE_MAX_OPEN_CALLS || !is_current(&span->call))
        return 0;
    // The count stands in memory, where the verifier forgets it.
    name_call(&span->call,
              (void*)&buffer->words[2 * (buffer->sample.calls & (WIRE_MAX_OPEN_CALLS - 1))]);
    buffer->sample.calls++;
    if (count)
        span->call.samples++;
    else // a wait, whose sample may come when the span has ended elsewhere
        span->call.end_asked++;
    return 0;
}

__noinline int list_attached_spans(struct attached_spans* spans, struct sample_buffer* buffer,
                                   bool count) {
    if (!spans || !buffer)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        list_attached_span(&spans->of[i], buffer, count);
    return 0;
}

__noinline int list_parked_span(const struct attached_span* attached, struct sample_buffer* buffer,
                                u64 g) {
    return attached && attached->g == g ? list_attached_span(attached, buffer, false) : 0;
}

__noinline int list_parked_spans(struct attached_spans* spans, struct sample_buffer* buffer,
                                 u64 g) {
    if (!spans || !buffer)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        list_parked_span(&spans->of[i], buffer, g);
    return 0;
}

__noinline int is_span_open(const struct attached_span* attached) {
    return attached && span_worked_for(attached);
}

__noinline int is_any_span_open(struct attached_spans* spans) {
    if (!spans)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (is_span_open(&spans->of[i]))
            return 1;
    }
    return 0;
}

static __always_inline void note_wait(struct span* span, const struct wire_wait* wait,
                                      bool sampled) {
    span->call.waits += sampled;
    if (wait->blocked_ns > span->call.longest_wait.blocked_ns)
        span->call.longest_wait = *wait;
}

__noinline int charge_attached_span(const struct attached_span* attached,
                                    const struct wire_wait* wait, u64 runnable_ns, bool sampled,
                                    u64 g) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    if (!span || !wait)
        return 0;
    note_wait(span, wait, sampled);
    if (g && attached->g == g) {
        span->of_goroutine.blocked_ns += wait->blocked_ns;
        span->of_goroutine.runnable_ns += runnable_ns;
    }
    return 0;
}

__noinline int charge_attached_spans(struct attached_spans* spans, const struct wire_wait* wait,
                                     u64 runnable_ns, bool sampled, u64 g) {
    if (!spans || !wait)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        charge_attached_span(&spans->of[i], wait, runnable_ns, sampled, g);
    return 0;
}

__noinline int charge_unseen_wait_to_span(const struct attached_span* attached,
                                          const struct wire_wait* wait) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    if (!span || !wait)
        return 0;
    note_wait(span, wait, false);
    span->call.end_asked++;
    return 0;
}

__noinline int charge_unseen_wait_to_spans(struct attached_spans* spans,
                                           const struct wire_wait* wait) {
    if (!spans || !wait)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        charge_unseen_wait_to_span(&spans->of[i], wait);
    return 0;
}

__noinline int charge_parked_span(const struct attached_span* attached,
                                  const struct wire_wait* wait, u64 queued_ns, bool sampled,
                                  u64 g) {
    struct span* span = attached && attached->g == g ? span_worked_for(attached) : NULL;

    if (!span || !wait)
        return 0;
    note_wait(span, wait, sampled);
    span->of_goroutine.parked_ns += wait->blocked_ns;
    span->of_goroutine.queued_ns += queued_ns;
    return 0;
}
__noinline int charge_parked_spans(struct attached_spans* spans, const struct wire_wait* wait,
                                   u64 queued_ns, bool sampled, u64 g) {
    if (!spans || !wait)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        charge_parked_span(&spans->of[i], wait, queued_ns, sampled, g);
    return 0;
}

__noinline int mark_attached_span(const struct attached_span* attached, u32 marks) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    if (span)
        span->call.marks |= marks;
    return 0;
}

__noinline int mark_attached_spans(struct attached_spans* spans, u32 marks) {
    if (!spans)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        mark_attached_span(&spans->of[i], marks);
    return 0;
}

__noinline int terms_of_attached_span(const struct attached_span* attached, u32 gate, u64 now) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    return span ? terms_of_call(&span->call, gate, now) : 0;
}

__noinline int terms_of_attached_spans(struct attached_spans* spans, u32 gate, u64 now) {
    u32 fulfilled = 0;

    if (!spans)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++)
        fulfilled |= terms_of_attached_span(&spans->of[i], gate, now);
    return fulfilled;
}

__noinline int list_span_around(const struct attached_span* attached, struct wire_call* out) {
    struct span* span = attached ? span_worked_for(attached) : NULL;

    if (!span || !out)
        return 0;
    name_call(&span->call, out);
    span->call.end_asked++;
    return 1;
}

__noinline int list_spans_around(struct attached_spans* spans, struct wire_slow_call* slow) {
    u32 listed = 0;

    if (!spans || !slow)
        return 0;
    for (u32 i = 0; i < WIRE_ATTACHED_SPANS; i++) {
        if (list_span_around(&spans->of[i], &slow->call[listed & (WIRE_MAX_OPEN_CALLS - 1)]))
            listed++;
    }
    return listed;
}
