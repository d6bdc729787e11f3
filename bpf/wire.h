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
typedef int16_t __wire_s16;
typedef int32_t __wire_s32;
typedef int64_t __wire_s64;
#else
typedef unsigned char __wire_u8;
typedef unsigned short __wire_u16;
typedef unsigned int __wire_u32;
typedef unsigned long long __wire_u64;
typedef short __wire_s16;
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
    WIRE_STACK_WORDS = 128,    /* of a user stack: frames, and why it is cut: unwind_table.h */
    WIRE_SLOW_BURST = 256,     /* slow calls that one CPU may report at once, above its rate */
    WIRE_COMM = 16,            /* bytes of a thread's name, NUL included */
    WIRE_ANY_USER = -1,        /* in place of a uid, none of which it is */
    WIRE_CGROUP_LEVELS = 64,   /* of a process's group, in which a target's is looked for */
    WIRE_MAX_MARKS = 32,       /* yes-or-no facts about a call that are watched at once */
    WIRE_MAX_VALUES = 8,       /* values fetched of one call */
    WIRE_MAX_OFFSETS = 6,      /* of one value: members and pointers followed to it */
    WIRE_MAX_STRINGS = 2,      /* strings among the values of one call, and to compare with */
    WIRE_STRING = 64,          /* bytes of a fetched string, NUL included */
    WIRE_MAX_COMPARISONS = 8,  /* in the predicates of one spec, all together */
    WIRE_MAX_CLAUSES = 8,      /* of one predicate or gate */
    WIRE_MAX_GATE_TERMS = 8,   /* of one gate */
    WIRE_MAX_PROGRAMS = 2048,  /* specs of whose calls something is read or asked */
    WIRE_MAX_CALLEES = 16384,  /* functions that calls through pointers may go to */
};

/* Which processes of a name are targets. */
struct wire_target_condition {
    __wire_u64 cgroup; /* id of the group that they are in, or below which; 0: any */
    __wire_u32 user;   /* real user id, or WIRE_ANY_USER */
    __wire_u32 unused;
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
 * length stands in the cookie, and where it comes back to. One that calls through a pointer
 * (WIRE_COOKIE_POINTER) is a call of the function only when it goes there: see wire_call_operand.
 */
enum wire_cookie {
    WIRE_COOKIE_SPEC_MASK = 0xffff,
    WIRE_COOKIE_CONDITION_SHIFT =
        16, /* low four bits of the opcode: 0 (overflow) to 15 (greater) */
    WIRE_COOKIE_CONDITIONAL = 1 << 20,
    WIRE_COOKIE_SECOND = 1 << 21,
    WIRE_COOKIE_CALL_SITE = 1 << 22,
    WIRE_COOKIE_POINTER = 1 << 23,
    WIRE_COOKIE_CALL_LENGTH_SHIFT = 24, /* 4 bits */
    WIRE_COOKIE_GENERATION_SHIFT = 32,
};

/*
 * What is read of a call, compiled by user space from `arg0`, `req->len`, `str(path)`, `ret`. A
 * value begins with a base; then each offset but the last is added and 8 bytes are read there; the
 * last one is added, and what lies there is the value (with `in_memory`), or the sum itself.
 */
enum wire_base {
    WIRE_BASE_REGISTER =
        0,                /* `number` as DWARF counts: 0 rax, 1 rdx, ... 4 rsi, 5 rdi, ... 16 rip */
    WIRE_BASE_CFA = 1,    /* canonical frame address: the stack pointer before the call */
    WIRE_BASE_THREAD = 2, /* the thread's control block (fs), of the variable errno */
};

enum wire_fetch_flag {
    WIRE_FETCH_IN_MEMORY = 1,
    WIRE_FETCH_SIGNED = 2,
    WIRE_FETCH_STRING = 4, /* what the value points to, up to its NUL, into a slot of strings */
    WIRE_FETCH_AT_END = 8, /* when the call returns; else when it begins */
};

struct wire_fetch {
    __wire_u8 base;
    __wire_u8 number;
    __wire_u8 offsets; /* 1 to WIRE_MAX_OFFSETS */
    __wire_u8 flags;
    __wire_u8 size;      /* bytes: 1, 2, 4 or 8, of a register the low ones; of a string how many
                            it has at most, NUL included */
    __wire_u8 bit_shift; /* of a bit-field, in the `size` bytes */
    __wire_u8 bit_size;  /* 0: no bit-field */
    __wire_u8 string;    /* slot, of a string */
    __wire_s32 offset[WIRE_MAX_OFFSETS];
};

enum wire_comparison_operation {
    WIRE_EQUAL = 0,
    WIRE_UNEQUAL = 1,
    WIRE_LESS = 2,
    WIRE_LESS_EQUAL = 3,
    WIRE_GREATER = 4,
    WIRE_GREATER_EQUAL = 5,
    WIRE_BITS_SET = 6,   /* value & constant is not 0 */
    WIRE_BITS_CLEAR = 7, /* ... is 0 */
};

enum wire_comparison_flag {
    WIRE_COMPARE_SIGNED = 1,
    WIRE_COMPARE_VALUES = 2, /* with another value, whose index is `constant` */
    WIRE_COMPARE_STRING = 4, /* with the constant string of this index: (un)equal only */
};

/* One with a value that could not be read does not hold, and neither does its opposite. */
struct wire_comparison {
    __wire_u8 value; /* index */
    __wire_u8 operation;
    __wire_u8 flags;
    __wire_u8 padding[5];
    __wire_u64 constant;
};

/* Holds when one of its clauses does: all of whose comparisons hold. */
struct wire_predicate {
    __wire_u8 clauses; /* 0: there is no predicate */
    __wire_u8 at_end;  /* 1: needs a value that is read at the call's end */
    __wire_u8 padding[2];
    __wire_u32 clause[WIRE_MAX_CLAUSES]; /* bits of comparisons */
};

enum wire_predicate_use {
    WIRE_PREDICATE_ONLY,  /* other calls do not count: `filtered` */
    WIRE_PREDICATE_SLOW,  /* other calls are not traced */
    WIRE_PREDICATE_SPLIT, /* sets a mark */
    WIRE_PREDICATES,
};

enum { WIRE_NO_LABEL = 0xff };

/* The values of a spec's calls, and what is asked of them. */
struct wire_call_program {
    __wire_u32 version; /* another one after every edit: values of another one are not comparable */
    __wire_u8 fetches;
    __wire_u8 comparisons;
    __wire_u8 label;      /* index of the value that a split is by, or WIRE_NO_LABEL */
    __wire_u8 split_mark; /* that WIRE_PREDICATE_SPLIT sets */
    /* 1: every call is judged at its end, since that decides whether it counts or has a mark; 0:
     * only calls of which something is told. */
    __wire_u8 judges_end;
    __wire_u8 padding[7];
    struct wire_fetch fetch[WIRE_MAX_VALUES];
    struct wire_comparison comparison[WIRE_MAX_COMPARISONS];
    struct wire_predicate predicate[WIRE_PREDICATES];
    char string[WIRE_MAX_STRINGS][WIRE_STRING]; /* constants, padded with NULs */
};

/* How many returned calls of a spec had a mark, per CPU; of those that began since it is watched.
 */
struct wire_mark_count {
    __wire_u64 since_ns;
    __wire_u64 taken;
    __wire_u64 not_taken;
};

/* Values of one call. */
struct wire_values {
    __wire_u32 version;  /* of wire_call_program; 0: there are none */
    __wire_u32 readable; /* bit i: value i could be read */
    /* Extended to 64 bits; of a string its address; of one that could not be read the address at
     * which that failed, or 0. */
    __wire_u64 value[WIRE_MAX_VALUES];
    char string[WIRE_MAX_STRINGS][WIRE_STRING];
};

/*
 * A gate: which samples and slow calls are kept, decided when they happen. Holds when one of its
 * clauses does. Two gates, each twice: one in force and one that is being written.
 */
enum wire_gate_term_kind {
    WIRE_TERM_CALL = 1, /* in a call that has lasted `value` ns at least; see wire_spec.terms */
    WIRE_TERM_PID = 2,
    WIRE_TERM_TID = 3,
    WIRE_TERM_COMM = 4,
    WIRE_TERM_CGROUP = 5,
};

struct wire_gate_term {
    __wire_u32 kind;
    __wire_u32 padding;
    __wire_u64 value;
    char comm[WIRE_COMM];
};

struct wire_gate_clause {
    __wire_u16 all;  /* terms that must hold */
    __wire_u16 none; /* terms that must not */
};

struct wire_gate {
    __wire_u32 terms;
    __wire_u32 clauses; /* 0: no gate, everything passes */
    struct wire_gate_clause clause[WIRE_MAX_CLAUSES];
    struct wire_gate_term term[WIRE_MAX_GATE_TERMS];
};

enum wire_gate_use {
    WIRE_GATE_ONLY = 0,   /* of all samples and slow calls */
    WIRE_GATE_RAISED = 1, /* of samples beyond the base rate */
    WIRE_GATE_USES,
    WIRE_GATES = 2 * WIRE_GATE_USES,
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
    /* Which terms of gates its calls are meant by: WIRE_MAX_GATE_TERMS bits a gate. */
    __wire_u32 terms;
    __wire_u32 counted_marks; /* returned calls with these marks are counted each */
    __wire_u32 program;       /* its wire_call_program, from 1; 0: none */
    __wire_u32 padding;
};

/* By number as instructions have them, from 1: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... */
enum wire_operand_register {
    WIRE_OPERAND_NONE = 0,
    WIRE_OPERAND_REGISTERS = 16,
    WIRE_OPERAND_CALL = 17, /* the address of the call instruction itself */
};

/* Of a spec's call instruction: base + index * scale + displacement is where it goes or, in memory,
 * where that is stored. */
struct wire_call_operand {
    __wire_u8 base;
    __wire_u8 index;
    __wire_u8 scale;
    __wire_u8 in_memory;
    __wire_u32 other_files; /* 1: there are functions in other files than the caller's */
    __wire_u64 displacement;
};

/*
 * A function that the spec times, so named that it is the same in every process. In the caller's
 * own file by its distance. Elsewhere by inode, size and offset in the file: device numbers differ
 * between what a mapping has and what user space is told (overlayfs, btrfs).
 */
struct wire_call_target {
    __wire_u32 spec;
    __wire_u32 generation;
    __wire_u64 inode; /* 0: in the caller's file */
    __wire_u64 file_size;
    __wire_u64 offset; /* in the file, or from the call instruction */
};

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
    /* How often the spec's probes were hit, by whatever process and whatever came of it. */
    __wire_u64 entry_hits;
    __wire_u64 exit_hits;
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
    WIRE_LOSS_POINTER, /* a call through a pointer: where it goes could not be read just then */
    WIRE_LOSS_VALUES,  /* no memory for a thread's values: predicates on them do not hold */
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

/* Of the thread that calibrates: its ticks, and what the sampler measured of itself in the last
 * one. Written by the sampler, read by user space. */
struct wire_calibration {
    __wire_u64 ticks;
    __wire_u64 own_ns;
};

/* What the off-CPU sampler saw, per CPU. */
struct wire_wait_stats {
    __wire_u64 waits;   /* of observed threads, that ended */
    __wire_u64 samples; /* sent; a wait has up to two: its blocked and its runnable part */
    __wire_u64 gated;   /* in which the clock ticked, and that a gate kept back */
    __wire_u64 own_ns; /* what was done at context switches and wake-ups of observed threads took */
    __wire_u64 waited_ns; /* sum of the waits */
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
    /* What a tick costs the thread that it hits, beside what the sampler measures of itself: the
     * way into the interrupt and out of it. 0: not calibrated. */
    __wire_u64 sample_entry_ns;
    __wire_u64 sample_weight_ns; /* weight of a sample; 0: the event's own period, in ns */
    __wire_u64
        slow_interval_ns; /* between WIRE_SLOW_CALL events of one CPU, on average; 0: no limit */
    __wire_u64 wall_period_ns; /* between the ticks of the clock by which waits are sampled */
    /* Stacks of waits are only taken where a tick is this near, counted in mean waits of the
     * thread; 0: of all. */
    __wire_u32 wait_stacks_within;
    __wire_u32 padding;
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
    __wire_u32 gate[WIRE_GATE_USES]; /* which of each use's two is in force, from 1; 0: neither */
    /* Of the ticks for which WIRE_GATE_RAISED does not hold every how manieth is a sample, with so
     * much more weight: 1 all, 0 none. */
    __wire_u32 base_every;
    __wire_u32 with_wakers; /* 1: samples of blocked threads say who woke them */
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
    WIRE_SYSCALL_NONE = -1,    /* not waiting, or preempted in user mode: frames say where */
    WIRE_SYSCALL_STOPPED = -2, /* stopped by a signal or a debugger: of open calls only */
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

/* Followed by `calls` records of wire_call, outermost first, then by user_frames and kernel_frames
 * addresses, leaf first, and `with_waker` by a wire_waker. */
struct wire_sample {
    struct wire_event event;
    char comm[WIRE_COMM];
    __wire_u64 weight_ns;
    __wire_u32 cpu;
    __wire_u8 sample_kind;
    __wire_u8 with_waker;
    __wire_u16 user_frames;
    __wire_u16 kernel_frames;
    __wire_u16 calls;
    __wire_s32 syscall; /* in which the thread waits; else wire_no_syscall */
};

/* The thread that ended a wait, and its stack; followed by `frames` addresses, leaf first. pid 0:
 * no thread did, but an interrupt. */
struct wire_waker {
    __wire_u32 pid;
    __wire_u32 tid;
    char comm[WIRE_COMM];
    __wire_u32 frames;
    __wire_u32 padding;
};

/* How a call ended. */
enum wire_call_flag {
    WIRE_CALL_UNWOUND = 1, /* no exit was seen: exception, longjmp, thread exit, exec */
    WIRE_CALL_SLOW = 2,    /* beyond the spec's slow_ns */
    WIRE_CALL_WATCHED =
        4, /* its waits were watched all the time: blocked_ns and runnable_ns count */
    WIRE_CALL_FILTERED = 8, /* WIRE_PREDICATE_ONLY does not hold: the call does not count */
};

struct wire_call_end {
    struct wire_event event;
    struct wire_call call;
    __wire_u64 duration_ns; /* less what sampling has added to it */
    __wire_u64 blocked_ns;  /* of its duration, exactly */
    __wire_u64 runnable_ns;
    __wire_u32 samples; /* that the call held, of all kinds */
    __wire_u32 flags;
    __wire_u32 marks; /* bits of WIRE_MAX_MARKS */
    __wire_u32 label; /* wire_label */
    __wire_u64 label_value;
    /* WIRE_LABEL_STRING: followed by WIRE_STRING bytes. */
};

/* The value that a split is by. */
enum wire_label {
    WIRE_LABEL_NONE = 0,
    WIRE_LABEL_NUMBER = 1,
    WIRE_LABEL_STRING = 2,
    WIRE_LABEL_UNREADABLE = 3,
};

/*
 * A slow call. Its stack was taken at the call's end, so the first frame is the exit instruction
 * or, from_return, the caller's next one.
 */
struct wire_slow_call {
    struct wire_call_end end;
    char comm[WIRE_COMM];
    struct wire_wait longest_wait; /* blocked_ns 0: none was seen */
    __wire_u16 user_frames;        /* words: see unwind_table.h, as in all records */
    __wire_u16 kernel_frames;
    __wire_u32 from_return; /* 1: taken at the return address; the function itself is no frame */
    __wire_u32 enclosing;   /* open calls around it, outermost first */
    __wire_u32 padding;
    __wire_u64 threshold_ns; /* that it took longer than */
    struct wire_call call[WIRE_MAX_OPEN_CALLS];
    struct wire_values values;
    __wire_u64 frames[WIRE_STACK_WORDS];
};

/* A call that is open now; see the program that lists them. */
struct wire_open_call {
    struct wire_call call;
    __wire_u64 now_ns;
    __wire_u32 pid;
    __wire_u32 tid;
    __wire_u32 depth;   /* 0: the thread's outermost */
    __wire_u32 running; /* 1: on a CPU or waiting for one, so that the registers are not its present
                           ones */
    char comm[WIRE_COMM];
    __wire_u64 ip; /* user registers when it entered the kernel */
    __wire_u64 sp;
    __wire_u64 bp;
    __wire_u64 bx;
    __wire_s32 syscall; /* in which the thread waits; else wire_no_syscall */
    __wire_u32 padding;
    __wire_u64 argument; /* the system call's first one */
    /* Where a return probe has replaced the return address by its own, and what stood there; 0: it
     * is in place. */
    __wire_u64 return_slot;
    __wire_u64 return_address;
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
    __wire_u64 cpu_ns; /* of WIRE_PROCESS_EXITED: CPU time that all its threads took */
};

WIRE_ASSERT(sizeof(struct wire_event) == 24, "wire_event");
WIRE_ASSERT(sizeof(struct wire_call) == 16, "wire_call");
WIRE_ASSERT(sizeof(struct wire_sample) == 24 + 16 + 8 + 16 + 0, "wire_sample");
WIRE_ASSERT(sizeof(struct wire_call_end) == 88, "wire_call_end");
WIRE_ASSERT(sizeof(struct wire_fetch) == 32, "wire_fetch");
WIRE_ASSERT(sizeof(struct wire_comparison) == 16, "wire_comparison");
WIRE_ASSERT(sizeof(struct wire_open_call) == 120, "wire_open_call");
WIRE_ASSERT(sizeof(struct wire_process) == 56, "wire_process");

#endif
