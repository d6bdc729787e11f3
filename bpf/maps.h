/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The maps and globals that the programs share, declared here and defined in maps.bpf.c; that they
 * are shared is what makes the tool. (A map that one program has to itself stands in its file.)
 * Each has one sentence: who writes, who reads, what full means.
 */
#ifndef AUGER_MAPS_H
#define AUGER_MAPS_H

#include "kernel_types.h"
#include "unwind_table.h"
#include "wire.h"

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
                           nobody asks for it */
    u32 place;          /* of the probe that saw it begin: low half of the address */
    u32 wall_epoch;     /* of wire_config, at entry */
    u32 marks;          /* bits of marks that hold; written by the programs at lines, too */
    u32 gated;          /* ticks that hit it and that a gate kept back; written by the sampler */
    u32 traced_inside;  /* slow calls inside it that were traced: they ask for its end */
    u64 blocked_ns;     /* the thread's totals at entry */
    u64 runnable_ns;
    struct wire_wait longest_wait; /* in which it was blocked; written by the off-CPU sampler */
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
    u32 scope; /* of wire_config, in which the thread was found to be observed. Tracker only. */
    u32 padding;
    struct open_call calls[WIRE_MAX_OPEN_CALLS];
    /* The call that ends just now, and what is told of it. Tracker only; here, because a BPF
     * program's stack is small. */
    struct open_call ending;
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

/* Names for `-n NAME`: a process that execs into one becomes a target. Written by user space. */
struct target_comms_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16);
    __type(key, char[WIRE_COMM]);
    __type(value, u32);
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
extern const volatile __u32 possible_cpus;

/* Live values: written by user space whenever they change, read at every event. */
extern struct wire_config config;

static __always_inline void count_loss(u32 cause) {
    u64* count = bpf_map_lookup_elem(&losses, &cause);

    if (count)
        __sync_fetch_and_add(count, 1);
}

#endif
