// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// For which exchanges a task of an event loop of CPython's has worked (loop_tasks.h). Of the call
// tracker alone.
#ifndef AUGER_EXCHANGE_TASKS_H
#define AUGER_EXCHANGE_TASKS_H

#include "events.h"
#include "exchanges.h"
#include "loop_tasks.h"
#include "python_task.h"

enum {
    /* Sends of a thread at each of which is looked for a task, and how often later. */
    FIRST_SENDS = 64,
};

// Once a thread has sent something in a task, samples say which task runs: such a thread serves
// several connections at once, or would if it was asked to. So they do of a thread that serves
// several connections, once it has sent something in two greenlets. (uvloop sends outside of its
// tasks: what they do is nobody's to tell.)
__noinline int look_for_tasks(struct open_calls* calls) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_unwind_process* process;
    struct python_task task = {};
    struct loop_tasks* tasks;
    bool has_greenlets;
    u32 sends;

    if (!calls)
        return 0;
    sends = calls->sends++;
    if (sends >= FIRST_SENDS && sends % FIRST_SENDS)
        return 0;
    process = bpf_map_lookup_elem(&unwind_processes, &pid);
    if (!process || !process->python)
        return 0;
    if (!find_python_task(&task) || (!task.coroutine && !task.outermost))
        return 0;
    has_greenlets = calls->interleaves && !task.coroutine && calls->sends_in &&
                    task.outermost != calls->sends_in;
    if (!task.coroutine)
        calls->sends_in = task.outermost;
    if (!task.coroutine && !has_greenlets)
        return 0;
    tasks = thread_storage(&loop_tasks, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!tasks) {
        count_loss(WIRE_LOSS_STORAGE);
        return 0;
    }
    tasks->has_greenlets = has_greenlets;
    calls->interleaves = 1;
    return 0;
}

// Adds that of a span to what is told.
__noinline int name_exchange_of_task(struct loop_tasks* tasks, u32 index, u64 cookie) {
    struct wire_task_exchange* told;
    struct wire_span_key key;
    struct wire_spec* spec;
    struct span* span;
    u64 state;

    if (!tasks || !exchanges_in_force(index, &spec, &key, cookie))
        return 0;
    span = find_span(&key, &state);
    if (!span || !span->exchange.sent_ns)
        return 0;
    told = &tasks->send.exchange[tasks->send.exchanges & (WIRE_MAX_EXCHANGES - 1)];
    told->call.start_ns = span->call.start_ns;
    told->call.sequence = span->call.sequence;
    told->call.spec = span->call.spec;
    told->call.generation = span->call.generation;
    told->received_ns = span->open.start_ns + span->open.queued_ns;
    tasks->send.exchanges++;
    // There is a sample at least, which may have been taken in another one: its end is wanted.
    span->call.samples++;
    return 0;
}

// Whether user space has samples of the task that waited, which it keeps until this is told.
static __always_inline u8* find_waits(u64 task) {
    struct wire_waiting_task key = {};
    u8* waits;

    if (!config.with_waiting_tasks)
        return NULL;
    key.task = task;
    key.tgid = bpf_get_current_pid_tgid() >> 32;
    waits = bpf_map_lookup_elem(&waiting_tasks, &key);
    return waits && *waits & WIRE_WAITING_FOR_SEND ? waits : NULL;
}

// Something was sent on a connection, by a task perhaps that was sampled before: told once. Where
// that fails, samples of its waits are told with what it sends next.
__noinline int tell_task_of_send(struct open_calls* calls, u32 exchanges, u64 cookie) {
    struct loop_tasks* tasks = thread_storage(&loop_tasks, bpf_get_current_task_btf(), 0);
    struct python_task found = {};
    u64 task, *place;
    u8* waits;

    if (!tasks)
        return look_for_tasks(calls);
    if (!find_python_task(&found))
        return 0;
    task = found.coroutine || !tasks->has_greenlets ? found.coroutine : found.outermost;
    if (!task)
        return 0;
    place = find_in_set(tasks, set_of_task(task), task);
    waits = find_waits(task);
    if (!place && !waits)
        return 0;
    if (place)
        *place = 0;
    tasks->send.task = task;
    tasks->send.exchanges = 0;
    for (u32 i = 0; i < WIRE_MAX_EXCHANGES; i++) {
        if (exchanges >> i & 1)
            name_exchange_of_task(tasks, i, cookie);
    }
    if (!tasks->send.exchanges)
        return 0;
    fill_event(&tasks->send.event, WIRE_TASK_SEND, sizeof(tasks->send));
    if (bpf_ringbuf_output(&events, &tasks->send, sizeof(tasks->send), wakeup_flags()))
        count_loss(WIRE_LOSS_RING_CALL);
    else if (waits)
        *waits &= ~WIRE_WAITING_FOR_SEND;
    return 0;
}

#endif
