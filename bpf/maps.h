/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The maps and globals that the programs share, declared here and defined in maps.bpf.c; that they
 * are shared is what makes the tool. (A map that one program has to itself stands in its file.)
 * Each has one sentence: who writes, who reads, what full means.
 */
#ifndef AUGER_MAPS_H
#define AUGER_MAPS_H

#include "absence.h"
#include "kernel_types.h"
#include "unwind_table.h"
#include "wire.h"
#include "wire/waiting_tasks.h"

enum { NO_VALUE_SLOT = WIRE_MAX_OPEN_CALLS, RETURN_VALUE_SLOT, NO_FD = 0xffffffff };
enum call_state {
    /* Of a Go function that has no room on its stack: the stack is made larger, and the function
     * begins again. */
    CALL_BEGINS_AGAIN = 1,
    CALL_ENDS_IN_CALLER = 2,    /* it is seen when the caller goes on, see tail_calls.h ... */
    CALL_HAS_JUMPED = 4,        /* ... and the function is over, but what it has jumped to is not */
    CALL_WHOLE = 8,             /* of a function that is explained, in no other call of it */
    CALL_HAS_RETURN_PROBE = 16, /* which sees also what it jumps to come back */
    CALL_ENDS_IN_CALLEE = 32,   /* it is seen at the ends of what it jumps to, see tail_calls.h */
};

/* What is known of the call with CALL_WHOLE that is open: see call_parts.h. */
enum explained {
    EXPLAINED_NONE = 0, /* there is none */
    EXPLAINED = 1,
    EXPLAINED_INCOMPLETE = 2, /* the end of a call inside it was not seen */
    EXPLAINED_LEFT_OUT = 3,   /* it is not told */
};

/* A place on the current thread's stacks, and the mapping that it lies in: found when it is first
 * asked for, and once, since with interrupts off the kernel answers one such question only. */
struct stack_place {
    u64 sp;
    u64 start; /* [start, end) */
    u64 end;   /* 0: not known */
    u32 is_found;
    u32 is_own; /* 1: the thread's own stack */
};

/* An open call of a thread. Small, since every observed thread has WIRE_MAX_OPEN_CALLS of them. */
struct open_call {
    u64 start_ns;
    /*
     * The stack pointer at entry, where the return address lies. Of a call site: half-way between
     * the return address to be and the caller's stack pointer, so that it differs from a call of
     * the same function by its own probe, and from the caller's.
     */
    u64 sp;
    u32 sequence;
    u16 spec;
    u16 generation;
    u32 samples; /* written by the sampler, which interrupts the tracker on the same thread */
    u32 waits;   /* samples of waits; written by the off-CPU sampler, likewise */
    u32 return_address; /* its low half; of a function's call 0 on the thread's own stack, where
                           nobody asks for it, but of CALL_ENDS_IN_CALLEE */
    u32 place;          /* of the probe that saw it begin: low half of the address */
    u32 wall_epoch;     /* of wire_config, at entry */
    u32 marks;          /* bits of marks that hold; written by the programs at lines, too */
    u32 value_slot;     /* where its values are, in thread_values; NO_VALUE_SLOT: it has none */
    u32 end_asked;      /* by slow calls inside it that were traced, or waits that may be sampled */
    u32 state;          /* call_state. Tracker only. */
    u32 waits_at_entry; /* of a goroutine's call: its place there */
    u64 blocked_ns;     /* the thread's totals at entry */
    u64 runnable_ns;
    u64 own_ns;
    u64 parts_ns;  /* in an explained call: what its parts took inside this one. Tracker only. */
    u64 nested_ns; /* what counted calls took inside this one: see end_nested(). Tracker only. */
    struct wire_wait longest_wait; /* in which it was blocked; written by the off-CPU sampler */
};

/* A span that a thread works for, and what the thread's totals were when it began to. */
struct attached_span {
    struct wire_span_key key;
    u64 state; /* the span's; 0: there is none here */
    u64 g;     /* the goroutine that works for it (goroutine_spans.h) ... */
    u32 tid;   /* ... or, where that is 0, the thread */
    u32 padding;
    u64 since_ns;
    u64 blocked_ns;
    u64 runnable_ns;
    u64 own_ns;
};

struct attached_spans {
    struct attached_span of[WIRE_ATTACHED_SPANS];
};

/*
 * A goroutine's time on no thread. Written by the program at the runtime's switches, which is never
 * at work on one goroutine twice at once.
 */
struct goroutine_absence {
    u64 since_ns; /* 0: it is on a thread, or was not seen to leave it */
    u64 ready_ns; /* since when it waits for its turn; 0: parked */
    u32 reason;   /* wire_go_reason, of a park */
    u32 epoch;    /* of wire_config.go_epoch, when it left the thread */
    u64 clock_ns; /* how long it has waited before, in all */
};

/* How long the goroutine that worked for a span was parked, ready but not executed yet, and on a
 * thread that waited with it. */
struct goroutine_times {
    u64 parked_ns;
    u64 queued_ns;
    u64 blocked_ns;
    u64 runnable_ns;
};

/*
 * Of a span that is an exchange: how things were when something was sent the last time. That it was
 * the last send is known later; the exchange ended then, and what came behind it is in none.
 */
struct exchange {
    u64 sent_ns; /* 0: nothing yet */
    u64 quiet_ns;
    u64 attached_ns;
    u64 blocked_ns;
    u64 runnable_ns;
    struct goroutine_times of_goroutine;
    u64 cgroup; /* of the thread that sent, while a gate may ask for it ... */
    char comm[WIRE_COMM];
    u32 tid;
    u32 tgid;
    u32 marks;
    u32 closed;      /* 1: nothing more can be sent */
    u32 idle;        /* 1: the thread that works for it waits for what comes next */
    u32 fd;          /* by which something was received the last time; NO_FD: not known */
    u32 ahead;       /* 1: one byte of it has been received, by whoever reads ahead perhaps */
    u32 others_send; /* 1: not the goroutine that works for it, which may have waited just then */
    struct wire_wait longest_wait;
};

/* An open span. Its `call` is what samples are taken in: a call that no thread's stack holds. */
struct span {
    struct wire_span open;
    u64 g; /* the goroutine that works for it, or was the last to; 0: none is known to */
    /* When its goroutine took it up, of wire_config; 0: not all of its waits can be known. */
    u32 go_epoch;
    u32 padding;
    struct goroutine_times of_goroutine;
    struct open_call call;
    struct exchange exchange;
};

/* What the tracker looks for when it settles: the calls that a stack pointer proves to be gone and,
 * at an exit, the call that ends there. */
struct settlement {
    u64 now;
    u64 gone_below;      /* calls with a lower stack pointer on the same stack are gone */
    u64 entry_sp;        /* at an entry: a call at the same place is gone, whatever the stack */
    u64 exit_sp;         /* the exit's call has this stack pointer ... */
    u16 exit_spec;       /* ... and this spec and generation */
    u16 exit_generation; /* 0: not at an exit */
    u16 found;           /* 1: the exit's call is taken out of the open ones, to be `ending` */
    u16 kept;            /* how many of the open calls remain */
    u16 entry_spec;      /* at an entry: whose it is ... */
    u16 again;           /* ... 1: it has a call open there already, which is an older one */
    u32 entry_place;     /* ... and the low half of the instruction's address; 0: not at an entry */
    u16 at_call_site;    /* 1: the instruction is a call ... */
    u16 at_jump;         /* ... or a jump by which a function ends */
    u32 goes_elsewhere;  /* ... 1: through a pointer, of another function than the spec's */
    u64 stack_base;      /* see open_calls */
};

/*
 * calls[0, depth) are open, outermost first. The sampler may interrupt the tracker between any two
 * instructions, so an entry is written before depth counts it, and depth drops before it is reused.
 */
struct open_calls {
    u32 depth;
    u32 next_sequence;
    /* The mapping of the thread's own stack as last seen; end 0: not seen yet. Tracker only. */
    u64 own_stack_start;
    u64 own_stack_end;
    /* Time off the CPU since the first timed call. Off-CPU sampler only. */
    u64 blocked_ns;
    u64 runnable_ns;
    /* What samples, waits, slow calls and exits that were passed have cost the thread since then:
     * in nobody's duration. Written by all of them, each of which may interrupt another. */
    u64 own_ns;
    u64 own_ns_at_end; /* of the call that ends just now. Tracker only. */
    u64 threshold_ns;  /* that it was longer than, if it is slow. Tracker only. */
    u32 scope;     /* of wire_config, in which the thread was found to be observed. Tracker only. */
    u32 explained; /* enum explained. Tracker only. */
    u32 interleaves; /* 1: it takes up an exchange before it has answered another, or it answers in
                        tasks, and so would. Tracker only. */
    u32 turn;        /* enum turn. Tracker only. */
    u64 taken_up; /* the cookie of the connection whose exchange it has taken up last; likewise */
    /* Where the stack is that open_call.sp counts from: of a thread 0. Tracker only. */
    u64 stack_base;
    u64 g; /* of goroutine_key; 0: they are a thread's. Tracker only. */
    /* The spans that the thread works for. Tracker only; read by the samplers. */
    struct attached_spans spans;
    u32 attached;      /* how many of them there are */
    u32 next_attached; /* which one goes when there are too many */
    /* 1 while the thread is at a point of a span, where an interrupt's tracepoint must not change
     * what it works for. Tracker only. */
    u32 spans_busy;
    /* While it is not known to answer in tasks of CPython's: how often it has sent something.
     * Tracker only. */
    u32 sends;
    /* ... and the outermost frame of Python's in which it has. */
    u64 sends_in;
    /* Of the thread, until its wait is in the sums. Written by the off-CPU sampler; the tracker
     * adds it where that has not seen its end. */
    struct absence away;
    /* Likewise: what it waits in. blocked_ns is the tracker's. */
    struct wire_wait away_in;
    u32 away_in_calls; /* bit i: the open call i */
    u32 away_in_spans; /* 1: those that the thread works for */
    /* When what the thread sends just now on a unix socket was there for its peer; 0. Tracker only.
     */
    u64 unix_sent_ns;
    /* Of a span or a goroutine's call that ends just now. Tracker only. */
    struct {
        u64 attached_ns;
        u64 queued_ns;
        u64 parked_ns;
        u32 tgid;
        u32 tid;                          /* of the thread that worked for it last */
        u32 is_watched;                   /* 1: all waits of its goroutine are known */
        u32 of_goroutine;                 /* 1: a goroutine works for the span */
        struct goroutine_times goroutine; /* of a span whose goroutine's waits are known */
    } span_end;
    struct exchange exchange; /* likewise, of one that is an exchange */
    struct open_call calls[WIRE_MAX_OPEN_CALLS];
    /* The call that ends just now, and what is told of it. Tracker only; here, because a BPF
     * program's stack is small. */
    struct open_call ending;
    struct settlement settlement; /* likewise */
    struct stack_place here; /* likewise: where the thread is, when calls are found to be gone */
    struct wire_call_end end;
    char label[WIRE_STRING]; /* behind `end`: of WIRE_LABEL_STRING */
};

/* Written by the tracker alone (it also creates); read, and samples counted, by the sampler. A
 * failed creation is counted as dropped and WIRE_LOSS_STORAGE. */
struct open_calls_map {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct open_calls);
};

/* Written by user space at any time, read by the tracker; indexed by the attachment's cookie. */
struct specs_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_SPECS);
    __type(key, u32);
    __type(value, struct wire_spec);
};

/* Two for each use, see wire_gate_use and wire_config.gate. Written by user space, read by sampler
 * and slow-call tracer. */
struct gates_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_GATES);
    __type(key, u32);
    __type(value, struct wire_gate);
};

/* Written by all programs, read by user space. Full: the event is counted in `losses` by its kind.
 */
struct events_map {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20);
};

/* Per-CPU counters, indexed by wire_loss; written by all programs, read by user space. */
struct losses_map {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_LOSSES);
    __type(key, u32);
    __type(value, u64);
};

/* The processes observed. Written by user space (targets named) and by the process programs (forks,
 * exits); read by all. Full: the child is not observed, and counted as WIRE_LOSS_TARGETS_FULL. */
struct targets_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, u32);
};

/* Names for `-n NAME`: a process that execs into one becomes a target, if the map's value holds for
 * it. Written by user space. */
struct target_comms_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16);
    __type(key, char[WIRE_COMM]);
    __type(value, struct wire_target_condition);
};

/* The filters' values; the map's value is the filter generation in which they count. Written by
 * user space, read by tracker and sampler. Full: user space gets an error for its edit. */
struct filter_ids_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u64);
    __type(value, u32);
};

struct filter_comms_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, char[WIRE_COMM]);
    __type(value, u32);
};

/* Where the mappings of processes stand, see unwind_table.h. Written by user space and by the
 * process programs (forks, execs); read by walks of stacks. Full: stacks of the process are cut. */
struct unwind_processes_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_UNWIND_PROCESSES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct wire_unwind_process);
};

/* Open spans. Made and deleted by the tracker; samplers read them, and count in `call`; read by
 * user space. Not LRU: the longest span would be the first to go. Full: the span is dropped, loss
 * counted. */
struct spans_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_MAX_SPANS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct wire_span_key);
    __type(value, struct span);
};

/* One element; written by who samples waits, of threads and of goroutines, read by user space. */
struct wait_stats_map {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wire_wait_stats);
};

enum { LOOP_TASKS = 1024, TASKS_OF_SET = 4 };

/* Of a thread that serves several connections in a loop of CPython's. */
struct loop_tasks {
    u64 sampled[LOOP_TASKS]; /* tasks that were sampled since they sent something: coroutines, or
                                outermost frames */
    u64 has_greenlets;
    struct wire_task_send send; /* where what is told is put together. Tracker only. */
};

/* Made by the tracker, which takes out of it what the samplers note; a failed creation is counted
 * as WIRE_LOSS_STORAGE. */
struct loop_tasks_map {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct loop_tasks);
};

/* Tasks that user space has seen waiting: for which exchanges that was is told when they send
 * something (exchange_tasks.h), and ends of spans that they are the keys of are told. Bits of
 * wire_waiting_for, written by user space; the tracker takes one out that it has told. LRU: of a
 * task that gives way the waits are in no exchange, and its span stays open in user space. */
struct waiting_tasks_map {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, WIRE_WAITING_TASKS);
    __type(key, struct wire_waiting_task);
    __type(value, u8);
};

/* Where threads say what they work for. Written by user space and by the process programs (forks,
 * execs, exits), read by the tracker. Full: that process's threads say nothing. */
struct thread_contexts_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CONTEXT_PROCESSES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct wire_thread_place);
};

extern struct thread_contexts_map thread_contexts SEC(".maps");
extern struct loop_tasks_map loop_tasks SEC(".maps");
extern struct waiting_tasks_map waiting_tasks SEC(".maps");
extern struct wait_stats_map wait_stats SEC(".maps");
extern struct spans_map spans SEC(".maps");
extern struct unwind_processes_map unwind_processes SEC(".maps");
extern struct open_calls_map open_calls SEC(".maps");
extern struct specs_map specs SEC(".maps");
extern struct gates_map gates SEC(".maps");
extern struct events_map events SEC(".maps");
extern struct losses_map losses SEC(".maps");
extern struct targets_map targets SEC(".maps");
extern struct target_comms_map target_comms SEC(".maps");
extern struct filter_ids_map filter_pids SEC(".maps");
extern struct filter_ids_map filter_tids SEC(".maps");
extern struct filter_ids_map filter_cgroups SEC(".maps");
extern struct filter_comms_map filter_comms SEC(".maps");

/* Load-time knobs (user space sets them once, before loading). */
extern const volatile __u32 cpu_ids;            /* numbers of CPUs are below it */
extern const volatile __u32 own_pid;            /* of auger, which is no target of its own */
extern const volatile bool disables_preemption; /* see thread_storage.h */
extern const volatile __u32 late_walk_jiffies;  /* as many are too long; see unwind_table.h */

/* Live values: written by user space whenever they change, read at every event. */
extern struct wire_config config;

static __always_inline void count_loss(u32 cause) {
    u64* count = bpf_map_lookup_elem(&losses, &cause);

    if (count)
        __sync_fetch_and_add(count, 1);
}

/* The longest that a piece of our work takes: a walk of 512 native frames is some 30 us, one that
 * goes through 512 of Python's and passes 1,024 more some 50 us. What seems to have taken longer
 * was interrupted by other tasks or by the hypervisor, as the thread may be anywhere; that is not
 * our cost, and stays in durations. */
#define LONGEST_OWN_NS 100000

static __always_inline u64 without_interruptions(u64 own_ns) {
    return own_ns > LONGEST_OWN_NS ? LONGEST_OWN_NS : own_ns;
}

/* Adds to what auger has cost a thread that has timed calls. */
static __always_inline void charge(struct open_calls* calls, u64 own_ns) {
    __sync_fetch_and_add(&calls->own_ns, own_ns);
}

#endif
