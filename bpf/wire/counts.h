/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* What is counted, of calls and of all that is lost. */
#ifndef AUGER_WIRE_COUNTS_H
#define AUGER_WIRE_COUNTS_H

#include "histogram.h"

/*
 * What the tracker counts of one spec on one CPU. Written by the tracker (atomically: a uprobe can
 * be preempted), mapped and read by user space. entries = returns + unwound + open + dropped +
 * filtered, summed over the CPUs.
 */
struct wire_call_counters {
    __wire_u64 entries;
    __wire_u64 returns;
    __wire_u64 unwound;  /* left by exception, longjmp, thread exit or exec */
    __wire_s64 open;     /* on one CPU it may be negative: calls end on another */
    __wire_u64 dropped;  /* entries that could not be tracked: see wire_loss */
    __wire_u64 filtered; /* for which WIRE_PREDICATE_ONLY did not hold, or could not be read */
    __wire_u64 sum_ns;   /* of returned calls, as are the following */
    __wire_u64 min_ns;   /* 0: none yet (a call of 0 ns counts as 1) */
    __wire_u64 max_ns;
    __wire_u64 nested_ns; /* of sum_ns: in other timed calls, on the thread's own stack */
    /* How often the spec's probes were hit, by whatever process and whatever came of it. */
    __wire_u64 entry_hits;
    __wire_u64 exit_hits;
    __wire_u64 stepped_exit_hits; /* of exit_hits: see WIRE_COOKIE_STEPPED */
    /* That telling of calls, with their stacks and values, took beside that. */
    __wire_u64 tracing_ns;
};

/* Hits that belong to no spec: of a mark's line by its bit, and of where goroutines end. */
enum { WIRE_HITS_GOROUTINE_ENDS = WIRE_MAX_MARKS, WIRE_OTHER_HITS };

/* Durations of a spec's returned calls on one CPU, written and read likewise. Buckets wrap at 2^32;
 * user space reads them often enough to add the differences up. */
struct wire_call_histogram {
    __wire_u32 buckets[WIRE_HIST_BUCKETS];
    __wire_u32 padding;
};
WIRE_ASSERT(sizeof(struct wire_call_histogram) % 8 == 0, "array values are multiples of 8 bytes");

/* How many returned calls of a spec had a mark, per CPU; of those that began since it is watched.
 */
struct wire_mark_count {
    __wire_u64 since_ns;
    __wire_u64 taken;
    __wire_u64 not_taken;
};

/* Why something that happened is not in the data. Per-CPU counters, in this order in `losses`. */
enum wire_loss {
    WIRE_LOSS_RING_SAMPLE,  /* event ring full: a sample */
    WIRE_LOSS_RING_CALL,    /* event ring full: the end of a call that held samples */
    WIRE_LOSS_RING_SLOW,    /* event ring full: a slow call */
    WIRE_LOSS_RING_PROCESS, /* event ring full: a process event */
    WIRE_LOSS_SLOW_RATE,    /* slow calls beyond the rate limit of their events */
    WIRE_LOSS_DEPTH,        /* calls nested deeper than WIRE_MAX_OPEN_CALLS */
    WIRE_LOSS_STORAGE,      /* no memory for a thread's open calls */
    WIRE_LOSS_TARGETS_FULL, /* a forked process that the target map had no room for */
    WIRE_LOSS_SLOW_MEMORY,  /* no memory to tell of a slow call */
    WIRE_LOSS_RING_WAIT,    /* event ring full: a sample of a wait */
    WIRE_LOSS_WAIT_STORAGE, /* no memory for a thread's waits */
    WIRE_LOSS_POINTER,   /* a call through a pointer: where it goes could not be read just then */
    WIRE_LOSS_VALUES,    /* no memory for a thread's values: predicates on them do not hold */
    WIRE_LOSS_SPANS,     /* a span that began while WIRE_MAX_SPANS were open: dropped */
    WIRE_LOSS_SPAN_KEY,  /* a point of a span: its key could not be read */
    WIRE_LOSS_SPAN_RACE, /* a span that began while another CPU was ending one with its key: dropped
                          */
    WIRE_LOSS_RING_PARTS,   /* event ring full: an explained call */
    WIRE_LOSS_PARTS_STACK,  /* a call that would be explained, but for its stack, which is not the
                               thread's own: other calls run between */
    WIRE_LOSS_PARTS_MEMORY, /* no memory to explain a thread's call */
    WIRE_LOSS_SPAN_INTERRUPTED, /* a tracepoint that is a point of a span, hit in an interrupt while
                                   the thread was at another point */
    WIRE_LOSS_CONTEXT, /* what a thread works for, where its program says it: it could not be read,
                          or changed meanwhile */
    WIRE_LOSS_CALLER, /* a call that is a jump, out of a function whose caller is not known: dropped
                       */
    WIRE_LOSS_RETURN, /* a wait whose end was not seen, nor can be told later */
    WIRE_LOSS_GOROUTINE_VALUES, /* those of a call of a goroutine in which as many calls are open as
                                   there is room for: predicates on them do not hold */
    WIRE_LOSSES,
};

/* What the sampler saw, per CPU. ticks = samples + filtered + gated + WIRE_LOSS_RING_SAMPLE. */
struct wire_sampler_stats {
    __wire_u64 ticks;
    __wire_u64 samples;
    __wire_u64 filtered; /* outside the target or the filter */
    __wire_u64 gated;    /* kept back by a gate */
    __wire_u64 own_ns;   /* what the ticks of samples and of gated ones cost the threads they hit */
};

/* What a tick costs, of each CPU. `ticks`, those of auger's own threads while they calibrate, and
 * `own_ns`, what the sampler measured of itself in the last one, are written by the sampler. */
struct wire_tick_cost {
    __wire_u64 ticks;
    __wire_u64 own_ns;
    /* Written by user space: what a tick costs the thread that it hits beside what the sampler
     * measures of itself, the way into the interrupt and out of it. 0: not calibrated. */
    __wire_u64 entry_ns;
};

/* What the off-CPU sampler saw, per CPU. */
struct wire_wait_stats {
    __wire_u64 waits;   /* of observed threads, that ended */
    __wire_u64 samples; /* sent; a wait has up to two: its blocked and its runnable part */
    __wire_u64 gated;   /* in which the clock ticked, and that a gate kept back */
    __wire_u64 own_ns; /* what was done at context switches and wake-ups of observed threads took */
    __wire_u64 waited_ns; /* sum of the waits */
};

#endif
