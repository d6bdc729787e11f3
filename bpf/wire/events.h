/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Records of the event ring, and of the list of open calls. */
#ifndef AUGER_WIRE_EVENTS_H
#define AUGER_WIRE_EVENTS_H

#include "values.h"

/* Events of the ring. */
enum wire_event_kind {
    WIRE_SAMPLE = 1,
    WIRE_CALL_END = 2,
    WIRE_SLOW_CALL = 3,
    WIRE_PROCESS = 4,
    WIRE_CALL_PARTS = 5,
    WIRE_TASK_SEND = 6,
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
    WIRE_SYSCALL_QUEUED = -3,  /* a goroutine that waits for its turn */
    WIRE_SYSCALL_PARKED = -64, /* one that is parked: plus wire_go_reason */
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
    /* The coroutine of the task that ran, of an event loop that serves several connections, so that
     * a wire_task_send may tell for which exchanges that was; 0: `calls` say all. */
    __wire_u64 task;
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
    __wire_u64 parked_ns; /* of a span's duration: no thread worked for it ... */
    __wire_u64 queued_ns; /* ... before the first one did */
    /* WIRE_LABEL_STRING: followed by WIRE_STRING bytes. */
};

/* For which exchange a task has sent something. */
struct wire_task_exchange {
    struct wire_call call;
    __wire_u64 received_ns; /* when it was first received: what the task did before was for none */
};

/*
 * A task has sent something: what it was sampled in since it did so before was for these exchanges,
 * of each spec one, and for no others of their specs.
 */
struct wire_task_send {
    struct wire_event event;
    __wire_u64 task; /* as in wire_sample */
    __wire_u32 exchanges;
    __wire_u32 padding;
    struct wire_task_exchange exchange[WIRE_MAX_EXCHANGES];
};

/* The value that a split is by. */
enum wire_label {
    WIRE_LABEL_NONE = 0,
    WIRE_LABEL_NUMBER = 1,
    WIRE_LABEL_STRING = 2,
    WIRE_LABEL_UNREADABLE = 3,
};

/*
 * A slow call, followed by user_frames addresses, leaf first. Its stack was taken at the call's
 * end, so the first frame is the exit instruction or, from_return, the caller's next one.
 */
struct wire_slow_call {
    struct wire_call_end end;
    char comm[WIRE_COMM];
    struct wire_wait longest_wait; /* blocked_ns 0: none was seen */
    __wire_u32 user_frames;        /* words: see unwind_table.h, as in all records */
    __wire_u32 from_return; /* 1: taken at the return address; the function itself is no frame */
    __wire_u32 enclosing;   /* open calls around it, outermost first */
    __wire_u32 padding;
    __wire_u64 threshold_ns; /* that it took longer than */
    struct wire_call call[WIRE_MAX_OPEN_CALLS];
    struct wire_values values;
};

/* Of an explained call what one function took of it: without what other parts took inside. */
struct wire_call_part {
    __wire_s64 self_ns; /* negative where a clock was read late, or what sampling cost was in it */
    __wire_u32 calls;
    __wire_u16 spec;
    __wire_u16 generation; /* 0: it was not called */
};

/* An explained call. */
struct wire_call_parts {
    struct wire_call_end end;
    __wire_u32 set;   /* wire_config.explained_set when it began */
    __wire_u32 every; /* it stands for so many: wire_config.explained_every */
    __wire_u32
        incomplete;   /* 1: the end of a call inside it was not seen, so its parts are unknown */
    __wire_u32 parts; /* how many follow */
    struct wire_call_part part[WIRE_MAX_PARTS];
};

enum { WIRE_USER_REGISTERS = 17 };

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
    /* As DWARF counts, and then the address of the next instruction: when it entered the kernel. */
    __wire_u64 registers[WIRE_USER_REGISTERS];
    __wire_s32 syscall;  /* in which the thread waits; else wire_no_syscall */
    __wire_u32 compat;   /* 1: the thread runs a 32-bit program */
    __wire_u64 argument; /* the system call's first one */
    __wire_u64 switches; /* how often the thread has left its CPU */
    /* Where a return probe has replaced the return address by its own, and what stood there; 0: it
     * is in place. */
    __wire_u64 return_slot;
    __wire_u64 return_address;
    __wire_u64 off_since_ns;   /* of a goroutine: on no thread since; 0: it is on one */
    __wire_u64 thread_pointer; /* of a thread: what pthread_self() returns there */
};

enum wire_process_change {
    WIRE_PROCESS_FORKED = 1, /* event.pid forked `child_pid`, now a target too */
    WIRE_PROCESS_EXECED = 2, /* event.pid runs another program, and is a target */
    WIRE_PROCESS_EXITED = 3, /* the last thread of event.pid ended */
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
WIRE_ASSERT(sizeof(struct wire_sample) == 24 + 16 + 8 + 16 + 8, "wire_sample");
WIRE_ASSERT(sizeof(struct wire_task_send) == 24 + 16 + WIRE_MAX_EXCHANGES * 24, "wire_task_send");
WIRE_ASSERT(sizeof(struct wire_call_end) == 104, "wire_call_end");
WIRE_ASSERT(sizeof(struct wire_call_parts) == 104 + 16 + WIRE_MAX_PARTS * 16, "wire_call_parts");
WIRE_ASSERT(sizeof(struct wire_open_call) == 248, "wire_open_call");
WIRE_ASSERT(sizeof(struct wire_process) == 56, "wire_process");

#endif
