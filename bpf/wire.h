/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The contract between the BPF programs and user space: every record of the event ring and every
 * map value, as fixed-width plain data. Both sides read this file; nothing else crosses the border.
 * All times are nanoseconds of CLOCK_MONOTONIC; all addresses are virtual addresses of the process.
 */
#ifndef AUGER_WIRE_H
#define AUGER_WIRE_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t __wire_u8;
typedef uint16_t __wire_u16;
typedef uint32_t __wire_u32;
typedef uint64_t __wire_u64;
typedef int32_t __wire_s32;
typedef int64_t __wire_s64;
#else
typedef unsigned char __wire_u8;
typedef unsigned short __wire_u16;
typedef unsigned int __wire_u32;
typedef unsigned long long __wire_u64;
typedef int __wire_s32;
typedef long long __wire_s64;
#endif

#ifdef __cplusplus
#define WIRE_ASSERT(condition, text) static_assert(condition, text)
#else
#define WIRE_ASSERT(condition, text) _Static_assert(condition, text)
#endif

enum wire_limit {
    WIRE_MAX_SPECS = 4096,     /* functions timed at once */
    WIRE_SPECS_PER_BLOCK = 16, /* specs whose histograms share one inner map */
    WIRE_MAX_OPEN_CALLS = 32,  /* depth of the per-thread stack of open calls */
    WIRE_MAX_FRAMES = 127,     /* frames of one user or kernel stack */
    WIRE_SLOW_BURST = 256,     /* slow calls that one CPU may report at once, above its rate */
    WIRE_COMM = 16,            /* bytes of a thread's name, NUL included */
};

/*
 * Log-linear histogram: values below 64 ns have a bucket each; above, every octave is cut into 64,
 * so that a bucket is at most 1/64 of its value wide and its middle is within 0.8 % of every value
 * in it. The last bucket takes everything from 2^40 ns (18 minutes).
 */
enum wire_histogram {
    WIRE_HIST_SUB_BITS = 6,
    WIRE_HIST_MAX_BITS = 40,
    WIRE_HIST_BUCKETS = ((WIRE_HIST_MAX_BITS - WIRE_HIST_SUB_BITS + 1) << WIRE_HIST_SUB_BITS) + 1,
};

/* The bucket of a duration: used by the tracker, and by user space for its own histograms. */
static inline __wire_u32 wire_histogram_bucket(__wire_u64 value) {
    __wire_u32 log2 = 0;
    __wire_u64 rest = value;

    if (value >> WIRE_HIST_MAX_BITS)
        return WIRE_HIST_BUCKETS - 1;
    if (value < (1u << WIRE_HIST_SUB_BITS))
        return (__wire_u32)value;
    /* Binary search for the highest bit: BPF has no instruction for it. */
    if (rest >> 32) {
        log2 += 32;
        rest >>= 32;
    }
    if (rest >> 16) {
        log2 += 16;
        rest >>= 16;
    }
    if (rest >> 8) {
        log2 += 8;
        rest >>= 8;
    }
    if (rest >> 4) {
        log2 += 4;
        rest >>= 4;
    }
    if (rest >> 2) {
        log2 += 2;
        rest >>= 2;
    }
    log2 += (__wire_u32)(rest >> 1);
    return ((log2 - WIRE_HIST_SUB_BITS + 1) << WIRE_HIST_SUB_BITS) +
           (__wire_u32)((value >> (log2 - WIRE_HIST_SUB_BITS)) & ((1u << WIRE_HIST_SUB_BITS) - 1));
}

/*
 * The cookie of an attachment: which spec it belongs to, in which generation (a probe of a deleted
 * spec that still fires while it is detached finds another one and does nothing), and for an exit
 * by a conditional jump the condition, since a probe on it fires whether it jumps or not. When a
 * function gets other probes while it is timed, both sets are attached for a moment: of its entry
 * probes only those count whose WIRE_COOKIE_SECOND agrees with the spec's WIRE_SPEC_SECOND.
 *
 * A call site's probes (WIRE_COOKIE_CALL_SITE) sit in the caller: on the call instruction, whose
 * length stands in the cookie, and where it comes back to.
 */
enum wire_cookie {
    WIRE_COOKIE_SPEC_MASK = 0xffff,
    WIRE_COOKIE_CONDITION_SHIFT =
        16, /* low four bits of the opcode: 0 (overflow) to 15 (greater) */
    WIRE_COOKIE_CONDITIONAL = 1 << 20,
    WIRE_COOKIE_SECOND = 1 << 21,
    WIRE_COOKIE_CALL_SITE = 1 << 22,
    WIRE_COOKIE_CALL_LENGTH_SHIFT = 24, /* 4 bits */
    WIRE_COOKIE_GENERATION_SHIFT = 32,
};

/* One timed function. Written by user space at any time, read by the tracker at every call. */
enum wire_spec_flag {
    WIRE_SPEC_ENABLED = 1,
    WIRE_SPEC_TRACE_SLOW = 2, /* calls longer than slow_ns become WIRE_SLOW_CALL events */
    WIRE_SPEC_RERUNS = 4,     /* Go: the same entry twice at one stack pointer is one call */
    WIRE_SPEC_SECOND = 8,     /* its second set of probes is in force: see wire_cookie */
};

struct wire_spec {
    __wire_u64 slow_ns;
    __wire_u32 flags;
    __wire_u32 generation; /* 1 to 65535; a new one whenever the spec gets another function */
};

/*
 * What the tracker counts of one spec on one CPU. Written by the tracker (atomically: a uprobe can
 * be preempted), mapped and read by user space. entries = returns + unwound + open + dropped,
 * summed over the CPUs.
 */
struct wire_call_counters {
    __wire_u64 entries;
    __wire_u64 returns;
    __wire_u64 unwound; /* left by exception, longjmp, thread exit or exec */
    __wire_s64 open;    /* on one CPU it may be negative: calls end on another */
    __wire_u64 dropped; /* entries that could not be tracked: see wire_loss */
    __wire_u64 sum_ns;  /* of returned calls, as are the following */
    __wire_u64 min_ns;  /* 0: none yet (a call of 0 ns counts as 1) */
    __wire_u64 max_ns;
};

/* Durations of a spec's returned calls on one CPU, written and read likewise. Buckets wrap at 2^32;
 * user space reads them often enough to add the differences up. */
struct wire_call_histogram {
    __wire_u32 buckets[WIRE_HIST_BUCKETS];
    __wire_u32 padding;
};
WIRE_ASSERT(sizeof(struct wire_call_histogram) % 8 == 0, "array values are multiples of 8 bytes");

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
    WIRE_LOSS_CALLER,       /* a slow call's caller: the stack could not be read at that moment */
    WIRE_LOSS_RING_WAIT,    /* event ring full: a sample of a wait */
    WIRE_LOSS_WAIT_STORAGE, /* no memory for a thread's waits */
    WIRE_LOSSES,
};

/* What the sampler saw, per CPU. ticks = samples + filtered + WIRE_LOSS_RING_SAMPLE. */
struct wire_sampler_stats {
    __wire_u64 ticks;
    __wire_u64 samples;
    __wire_u64 filtered; /* outside the target or the filter */
};

/* What the off-CPU sampler saw, per CPU. */
struct wire_wait_stats {
    __wire_u64 waits;   /* of observed threads, that ended */
    __wire_u64 samples; /* sent; a wait has up to two: its blocked and its runnable part */
};

/* Live values, written by user space whenever they change, read by every program. */
enum wire_filter {
    WIRE_FILTER_PID = 1,
    WIRE_FILTER_TID = 2,
    WIRE_FILTER_COMM = 4,
    WIRE_FILTER_CGROUP = 8,
    WIRE_FILTER_GENERATION_SHIFT = 32,
};

struct wire_config {
    /*
     * wire_filter bits: which filters apply (all of them must match); from
     * WIRE_FILTER_GENERATION_SHIFT on the generation: filter entries with a lower one do not count.
     * One word, so that an edit is one store and no event meets half of it.
     */
    __wire_u64 filter;
    __wire_u64 sample_gap_ns;    /* what one sample costs the thread it hits; 0: not calibrated */
    __wire_u64 sample_weight_ns; /* weight of a sample; 0: the event's own period, in ns */
    __wire_u64
        slow_interval_ns; /* between WIRE_SLOW_CALL events of one CPU, on average; 0: no limit */
    __wire_u64 wall_period_ns; /* between the ticks of the clock by which waits are sampled */
    /* Another number whenever sampling of waits begins, 0 while it is off: a wait or call that
     * began under another one was not watched from its beginning. */
    __wire_u32 wall_epoch;
    __wire_u32 all_processes;   /* 1: every process is a target */
    __wire_u32 calibration_tid; /* this thread's samples are taken but not sent; 0: none */
    __wire_u32 own_pid;         /* auger itself, never a target under all_processes */
    /*
     * Another number after every edit of target or filter: a thread that was found to be observed
     * is so until this changes. 0: it may cease to be at any time (a filter by name or cgroup).
     */
    __wire_u32 scope;
};

/* Events of the ring. */
enum wire_event_kind {
    WIRE_SAMPLE = 1,
    WIRE_CALL_END = 2,
    WIRE_SLOW_CALL = 3,
    WIRE_PROCESS = 4,
};

struct wire_event {
    __wire_u32 kind;
    __wire_u32 size; /* bytes of the whole record */
    __wire_u64 time_ns;
    __wire_u32 pid;
    __wire_u32 tid;
};

/* Instead of the number of a system call. */
enum wire_no_syscall {
    WIRE_SYSCALL_NONE = -1, /* not waiting, or preempted in user mode: frames say where */
};

/* A wait of a thread that was blocked, and what for as far as the kernel tells. */
struct wire_wait {
    __wire_u64 blocked_ns;
    __wire_u64 argument; /* the system call's first one: often a file descriptor */
    __wire_s32 syscall;  /* or wire_no_syscall */
    __wire_u32 padding;
};

/* A call, named: within one thread no two calls have both the same sequence and the same start. */
struct wire_call {
    __wire_u64 start_ns;
    __wire_u32 sequence;
    __wire_u16 spec;
    __wire_u16 generation;
};

/* What a sample's time was spent on: running, waiting to be woken, waiting for a CPU. */
enum wire_sample_kind {
    WIRE_SAMPLE_CPU = 0,
    WIRE_SAMPLE_BLOCKED = 1,
    WIRE_SAMPLE_RUNNABLE = 2,
};

/* Followed by `calls` records of wire_call, outermost first, and then by user_frames and
 * kernel_frames addresses, leaf first. */
struct wire_sample {
    struct wire_event event;
    char comm[WIRE_COMM];
    __wire_u64 weight_ns;
    __wire_u32 cpu;
    __wire_u16 sample_kind;
    __wire_u16 user_frames;
    __wire_u16 kernel_frames;
    __wire_u16 calls;
    __wire_s32 syscall; /* in which the thread waits; else wire_no_syscall */
};

/* How a call ended. */
enum wire_call_flag {
    WIRE_CALL_UNWOUND = 1, /* no exit was seen: exception, longjmp, thread exit, exec */
    WIRE_CALL_SLOW = 2,    /* beyond the spec's slow_ns */
    WIRE_CALL_WATCHED =
        4, /* its waits were watched all the time: blocked_ns and runnable_ns count */
};

struct wire_call_end {
    struct wire_event event;
    struct wire_call call;
    __wire_u64 duration_ns; /* less samples x sample_gap_ns */
    __wire_u64 blocked_ns;  /* of its duration, exactly */
    __wire_u64 runnable_ns;
    __wire_u32 samples; /* that the call held, of all kinds */
    __wire_u32 flags;
};

/*
 * A slow call. Its stack was taken at the call's end, so the first frame is the exit instruction.
 * The caller's address stands in return_address: at a function's last instruction its own frame is
 * gone, so that a walk by frame pointers skips the caller (0: could not be read, or not needed
 * because the walk began in the caller).
 */
struct wire_slow_call {
    struct wire_call_end end;
    char comm[WIRE_COMM];
    __wire_u64 return_address;
    struct wire_wait longest_wait; /* blocked_ns 0: none was seen */
    __wire_u16 user_frames;
    __wire_u16 kernel_frames;
    __wire_u32 from_return; /* 1: taken at the return address; the function itself is no frame */
    __wire_u64 frames[WIRE_MAX_FRAMES];
};

enum wire_process_change {
    WIRE_PROCESS_FORKED = 1, /* event.pid forked `child_pid`, now a target too */
    WIRE_PROCESS_EXECED = 2, /* event.pid runs another program, and is a target */
    WIRE_PROCESS_EXITED = 3, /* the last thread of event.pid ended */
    WIRE_PROCESS_THREAD_EXITED = 4,
};

struct wire_process {
    struct wire_event event;
    char comm[WIRE_COMM];
    __wire_u32 change;
    __wire_u32 child_pid;
};

WIRE_ASSERT(sizeof(struct wire_event) == 24, "wire_event");
WIRE_ASSERT(sizeof(struct wire_call) == 16, "wire_call");
WIRE_ASSERT(sizeof(struct wire_sample) == 24 + 16 + 8 + 16 + 0, "wire_sample");
WIRE_ASSERT(sizeof(struct wire_call_end) == 72, "wire_call_end");
WIRE_ASSERT(sizeof(struct wire_process) == 48, "wire_process");

#endif
