// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The list of open calls, and that of threads: visit every thread and write a record for each call
// that it has open now, for whoever reads the iterator; the latter one of the thread itself where
// it has none. The threads go on meanwhile, so each record of a call is looked at twice: what has
// changed in between has ended, and is no open call.
#include "filter.h"
#include "goroutine.h"
#include "maps.h"
#include "open_calls.h"
#include "return_probes.h"
#include "thread_storage.h"

#include ARCH(registers.h)

enum { TASK_STOPPED_OR_TRACED = 0x4 | 0x8 };

// Asks of any thread what passes_filters() asks of the current one.
static __always_inline bool task_passes_filters(struct task_struct* task, u64 filter) {
    u32 in_force = filter >> WIRE_FILTER_GENERATION_SHIFT;

    if ((filter & WIRE_FILTER_PID) && !passes_id(&filter_pids, task->tgid, in_force))
        return false;
    if ((filter & WIRE_FILTER_TID) && !passes_id(&filter_tids, task->pid, in_force))
        return false;
    if ((filter & WIRE_FILTER_CGROUP) &&
        !passes_id(&filter_cgroups, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id), in_force))
        return false;
    if (filter & WIRE_FILTER_COMM) {
        char comm[WIRE_COMM] = {};
        u32* generation;

        bpf_probe_read_kernel_str(comm, sizeof(comm), task->comm);
        generation = bpf_map_lookup_elem(&filter_comms, comm);
        if (!generation || *generation < in_force)
            return false;
    }
    return true;
}

// The part of has_been_left() that can be told of another thread: on its own stack.
static __always_inline bool is_below(const struct open_calls* calls, const struct open_call* call,
                                     u64 sp) {
    return sp > call->sp && call->sp >= calls->own_stack_start && sp < calls->own_stack_end;
}

// Of the thread that the record is of already, its open call `i`; 0: that has just ended. A
// function of its own: older verifiers would try every way through every turn of the loop that
// calls it.
__noinline int describe_call(struct open_calls* calls, u32 i, u64 return_instances,
                             struct wire_open_call* record) {
    struct open_call* call;
    u32 sequence;
    u64 start_ns;

    if (!calls || !record)
        return 0;
    call = &calls->calls[i & (WIRE_MAX_OPEN_CALLS - 1)];
    start_ns = load_acquire(&call->start_ns);
    sequence = load_acquire(&call->sequence);
    record->call.start_ns = start_ns;
    record->call.sequence = sequence;
    record->call.spec = load_acquire(&call->spec);
    record->call.generation = load_acquire(&call->generation);
    record->return_slot = load_acquire(&call->sp);
    if (!is_current(call) ||
        (!record->running && is_below(calls, call, record->registers[STACK_POINTER])))
        return 0;
    if (i >= load_acquire(&calls->depth) || load_acquire(&call->sequence) != sequence ||
        load_acquire(&call->start_ns) != start_ns)
        return 0;
    record->return_address = find_return_address(return_instances, record->return_slot);
    record->now_ns = bpf_ktime_get_ns();
    record->depth++;
    return 1;
}

static __always_inline bool is_of_target(struct task_struct* task) {
    u64 filter = *(volatile u64*)&config.filter;

    return is_target(task->tgid) && (!(u32)filter || task_passes_filters(task, filter));
}

// What the records of all its calls share.
static __always_inline void note_thread(struct task_struct* task, struct wire_open_call* record) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);
    u32 state = task->__state;

    record->pid = task->tgid;
    record->tid = task->pid;
    record->now_ns = bpf_ktime_get_ns();
    bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), task->comm);
    record->depth = -1; // of none yet
    record->running = !state;
    note_user_registers(record->registers, regs);
    record->compat = is_compat(regs);
    record->switches = task->nvcsw + task->nivcsw;
    // What was interrupted has no number of a system call, but a negative one.
    record->syscall = syscall_number(regs);
    if (record->running || record->syscall < 0)
        record->syscall = WIRE_SYSCALL_NONE;
    if (state & TASK_STOPPED_OR_TRACED)
        record->syscall = WIRE_SYSCALL_STOPPED;
    record->argument = syscall_argument(regs);
    record->thread_pointer = BPF_CORE_READ(task, THREAD_POINTER);
}

// All that the thread has.
static __always_inline void write_calls(struct seq_file* seq, struct task_struct* task,
                                        struct open_calls* calls, struct wire_open_call* record) {
    u64 return_instances = (u64)BPF_CORE_READ(task, utask, return_instances);
    u32 depth = load_acquire(&calls->depth);

    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        if (describe_call(calls, i, return_instances, record))
            bpf_seq_write(seq, record, sizeof(*record));
    }
}

SEC("iter/task")
int list_open_calls(struct bpf_iter__task* ctx) {
    struct task_struct* task = ctx->task;
    struct wire_open_call record = {};
    struct open_calls* calls;

    if (!task)
        return 0;
    calls = thread_storage(&open_calls, task, 0);
    if (!calls || !calls->depth || !is_of_target(task))
        return 0;
    note_thread(task, &record);
    write_calls(ctx->meta->seq, task, calls, &record);
    return 0;
}

SEC("iter/task")
int list_threads(struct bpf_iter__task* ctx) {
    struct task_struct* task = ctx->task;
    struct wire_open_call record = {};
    struct open_calls* calls;

    // The kernel's have no memory of their own.
    if (!task || !task->mm || !is_of_target(task))
        return 0;
    note_thread(task, &record);
    calls = thread_storage(&open_calls, task, 0);
    if (calls)
        write_calls(ctx->meta->seq, task, calls, &record);
    if (record.depth == (u32)-1)
        bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
    return 0;
}

// The same for goroutine_calls: a goroutine is on no certain thread, and its registers are not at
// hand.
SEC("iter/bpf_map_elem")
int list_goroutine_calls(struct bpf_iter__bpf_map_elem* ctx) {
    const struct goroutine_key* key = ctx->key;
    const struct goroutine_state* state = ctx->value;
    struct open_calls* calls = ctx->value;
    struct wire_open_call record = {};
    u32 depth;

    if (!key || !calls || !is_target(key->tgid))
        return 0;
    record.pid = key->tgid;
    record.argument = key->g;
    record.depth = -1;  // of none yet
    record.running = 1; // it is not known to be below a stack pointer
    record.syscall = WIRE_SYSCALL_NONE;
    if (is_off_thread(&state->waits.away)) {
        record.off_since_ns = state->waits.away.since_ns;
        record.syscall = state->waits.away.ready_ns
                             ? WIRE_SYSCALL_QUEUED
                             : WIRE_SYSCALL_PARKED + (int)state->waits.away.reason;
    }
    depth = *(volatile u32*)&calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        if (describe_call(calls, i, 0, &record))
            bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
    }
    return 0;
}
