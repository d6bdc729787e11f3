// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which processes are observed: children of a target are targets from their first instruction on,
// and a process that execs into a wanted name becomes one. User space hears of every change.
#include "events.h"
#include "maps.h"

// Of a process whose last thread ends now. The kernel adds up at ticks and switches: one that has
// not been off the CPU since it began has run for as long as it has been.
static __always_inline u64 cpu_time_of_process(void) {
    struct task_struct* task = bpf_get_current_task_btf();
    u64 own = task->se.sum_exec_runtime, lifetime = bpf_ktime_get_ns() - task->start_time;

    if (task->nvcsw + task->nivcsw == 0 && own < lifetime)
        own = lifetime;
    return own + BPF_CORE_READ(task, signal, sum_sched_runtime);
}

static __always_inline void send_process(u32 change, u32 pid, u32 child_pid) {
    struct wire_process* process = bpf_ringbuf_reserve(&events, sizeof(*process), 0);

    if (!process) {
        count_loss(WIRE_LOSS_RING_PROCESS);
        return;
    }
    fill_event(&process->event, WIRE_PROCESS, sizeof(*process));
    process->event.pid = pid;
    bpf_get_current_comm(process->comm, sizeof(process->comm));
    process->change = change;
    process->child_pid = child_pid;
    process->cpu_ns = change == WIRE_PROCESS_EXITED ? cpu_time_of_process() : 0;
    bpf_ringbuf_submit(process, BPF_RB_FORCE_WAKEUP);
}

// A child has its parent's mappings, until one of them executes another program.
static __always_inline void inherit_mappings(u32 pid, u32 child_pid) {
    struct wire_unwind_process* mappings = bpf_map_lookup_elem(&unwind_processes, &pid);
    struct wire_unwind_process inherited;

    if (!mappings)
        return;
    inherited = *mappings;
    bpf_map_update_elem(&unwind_processes, &child_pid, &inherited, BPF_ANY);
}

// ... and its variables, at the same places.
static __always_inline void inherit_context_place(u32 pid, u32 child_pid) {
    struct wire_thread_place* place;
    struct wire_thread_place inherited;

    if (!config.reads_contexts)
        return;
    place = bpf_map_lookup_elem(&thread_contexts, &pid);
    if (!place)
        return;
    inherited = *place;
    bpf_map_update_elem(&thread_contexts, &child_pid, &inherited, BPF_ANY);
}

static __always_inline void forget_context_place(u32 pid) {
    if (config.reads_contexts)
        bpf_map_delete_elem(&thread_contexts, &pid);
}

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args* ctx) {
    struct task_struct* parent = (void*)ctx->args[0];
    struct task_struct* child = (void*)ctx->args[1];
    u32 pid = BPF_CORE_READ(parent, tgid);
    u32 child_pid = BPF_CORE_READ(child, tgid);
    u32 one = 1;

    if (pid == child_pid)
        return 0;
    inherit_mappings(pid, child_pid);
    if (!bpf_map_lookup_elem(&targets, &pid))
        return 0;
    if (bpf_map_update_elem(&targets, &child_pid, &one, BPF_ANY)) {
        count_loss(WIRE_LOSS_TARGETS_FULL);
        return 0;
    }
    inherit_context_place(pid, child_pid);
    send_process(WIRE_PROCESS_FORKED, pid, child_pid);
    return 0;
}

/* Whether the current process is in the group or below it. */
static __always_inline bool is_in_group(u64 group) {
    for (int level = 0; level < WIRE_CGROUP_LEVELS; level++) {
        u64 id = bpf_get_current_ancestor_cgroup_id(level);

        if (id == group)
            return true;
        if (!id)
            return false;
    }
    return false;
}

static __always_inline bool is_target_by_name(void) {
    char comm[WIRE_COMM] = {};
    struct wire_target_condition* condition;

    bpf_get_current_comm(comm, sizeof(comm));
    condition = bpf_map_lookup_elem(&target_comms, comm);
    return condition &&
           (condition->user == (u32)WIRE_ANY_USER ||
            condition->user == (u32)bpf_get_current_uid_gid()) &&
           (!condition->cgroup || is_in_group(condition->cgroup));
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args* ctx) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    u32 one = 1;

    bpf_map_delete_elem(&unwind_processes, &pid);
    forget_context_place(pid);
    if (!bpf_map_lookup_elem(&targets, &pid)) {
        if (!is_target_by_name())
            return 0;
        if (bpf_map_update_elem(&targets, &pid, &one, BPF_ANY)) {
            count_loss(WIRE_LOSS_TARGETS_FULL);
            return 0;
        }
    }
    send_process(WIRE_PROCESS_EXECED, pid, 0);
    return 0;
}

SEC("raw_tp/sched_process_exit")
int process_exit(struct bpf_raw_tracepoint_args* ctx) {
    struct task_struct* task = (void*)bpf_get_current_task();
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    bool observed = bpf_map_lookup_elem(&targets, &pid);

    // A child inherits its parent's mappings, observed or not; of one that is not nobody else
    // hears.
    if (!observed && !bpf_map_lookup_elem(&unwind_processes, &pid))
        return 0;
    // The kernel has taken this thread off the count already.
    if (BPF_CORE_READ(task, signal, live.counter) > 0)
        return 0;
    if (!observed) {
        bpf_map_delete_elem(&unwind_processes, &pid);
        return 0;
    }
    bpf_map_delete_elem(&targets, &pid);
    forget_context_place(pid);
    send_process(WIRE_PROCESS_EXITED, pid, 0);
    return 0;
}
