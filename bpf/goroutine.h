/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of Go's functions. They are kept for each goroutine: it may go on on another thread, and
 * its stack may be moved in between. What stays is how far a frame is from the stack's end, so that
 * is the "stack pointer" of such a call (a negative number).
 */
#ifndef AUGER_GOROUTINE_H
#define AUGER_GOROUTINE_H

#include "call_values.h"
#include "go_runtime.h"
#include "maps.h"

/* A thread's g, or another one that stands for what is no goroutine's. */
struct goroutine_key {
    u64 g;
    u32 tgid;
    u32 padding;
};

struct goroutine {
    struct goroutine_key key; /* g 0: there is none */
    u64 stack_end;
    u64 sp; /* from the stack's end */
};

/* Those of a thread: the one that it works for, and, when it does that on a stack of its own, the
 * owner of that. */
struct goroutines {
    struct goroutine worked_for;
    struct goroutine on_stack;
};

/*
 * How long a goroutine was on no thread since its first timed call: parked, by what for, and
 * queued, ready but not executed yet. Written by the program at the runtime's switches; `at_entry`
 * by the tracker.
 */
struct goroutine_waits {
    struct goroutine_absence away;
    u64 queued_ns;
    u64 parked_ns[WIRE_GO_REASONS];
    /* What these were when a call began, by open_call.waits_at_entry. */
    struct {
        u64 queued_ns;
        u64 parked_ns[WIRE_GO_REASONS];
    } at_entry[WIRE_MAX_OPEN_CALLS];
};

enum {
    GOROUTINE_VALUES = 4, /* calls of a goroutine whose values are kept; those of more are unread */
};

struct goroutine_state {
    struct open_calls calls; /* first: who has one of these has the other */
    struct goroutine_waits waits;
    /* By open_call.value_slot, in place of thread_values: they may end on another thread. */
    struct call_values values[GOROUTINE_VALUES];
};

/* Elements are made and deleted by the tracker, for goroutines with open calls; read, and samples
 * counted, by the samplers. Not LRU: the longest call would be the first to go. Full: the call is
 * dropped, loss counted. */
struct goroutine_calls_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_GO_CALLERS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct goroutine_key);
    __type(value, struct goroutine_state);
};

/* By process id; made by the tracker at the first timed call, deleted at the process's end. Full:
 * samples are not known to be in calls, loss counted. */
struct go_processes_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_GO_PROCESSES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct wire_go_runtime);
};

extern struct goroutine_calls_map goroutine_calls SEC(".maps");
extern struct go_processes_map go_processes SEC(".maps");

/* Of a goroutine of the current process, whose calls these are. */
static __always_inline struct goroutine_state* state_of(const struct open_calls* calls) {
    struct goroutine_key key = {.g = calls->g, .tgid = bpf_get_current_pid_tgid() >> 32};

    return bpf_map_lookup_elem(&goroutine_calls, &key);
}

static __always_inline bool is_off_thread(const struct goroutine_absence* away) {
    return away->since_ns && away->epoch == config.go_epoch;
}

/* What was done has held a goroutine up, unless that is on no thread: then whatever it waits for
 * goes on meanwhile. */
static __always_inline void charge_running_goroutine(const struct goroutine_key* key, u64 own_ns) {
    struct goroutine_state* state = key->g ? bpf_map_lookup_elem(&goroutine_calls, key) : NULL;

    if (state && !is_off_thread(&state->waits.away))
        charge(&state->calls, own_ns);
}

/* The owner of the stack that the current thread is on at `sp`. Code that runs where Go's runtime
 * does not know of it (a signal's handler that has just begun) is the thread's. */
int find_stack_owner(const struct wire_go_runtime* runtime, u64 sp, struct goroutine* owner);

/* 1 when the current thread, at `sp`, is in a Go program with timed calls. */
int find_goroutines(u64 sp, struct goroutines* found);

#endif
