// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
#include "goroutine_spans.h"
#include "go_thread.h"
#include "polled_tasks.h"
#include "unwind.h"

struct goroutine_spans_map goroutine_spans SEC(".maps");
__u32 goroutines_work_for_spans = 0;

__noinline int find_polled_task(u64* task) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &tgid);

    if (!task || !process || !has_polled_tasks(process))
        return 0;
    if (process->tokio.id) {
        struct wire_tokio_task place = process->tokio;

        *task = find_tokio_task(&place);
    } else {
        struct wire_virtual_threads java = process->java;

        *task = find_virtual_thread(&java);
    }
    return 1;
}

// False: it cannot be read now.
static __always_inline bool find_goroutine_id(const struct goroutine_key* worker, u64* id) {
    u32 tgid = worker->tgid;
    const struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &tgid);

    *id = 0;
    return !process || !process->go.g_id || read_word(worker->g + process->go.g_id, id);
}

__noinline int is_work_of(const struct goroutine_work* work, const struct goroutine_key* worker) {
    u64 id;

    if (!work || !worker)
        return 0;
    return !work->id || (find_goroutine_id(worker, &id) && (!id || id == work->id));
}

__noinline int note_owner_of_work(struct goroutine_work* work, const struct goroutine_key* worker) {
    u64 id;

    if (work && worker && find_goroutine_id(worker, &id))
        work->id = id;
    return 0;
}

__noinline int find_worker(struct goroutine_key* worker) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &tgid);
    struct wire_go_labels place;
    u64 g = 0;

    if (!worker || !process)
        return 0;
    if (has_polled_tasks(process)) {
        if (!find_polled_task(&g) || !g)
            return 0;
    } else if (!process->go.m_curg) {
        return 0;
    } else {
        place = process->go;
        // What cannot be read now is no goroutine's that is known.
        if (!find_own_goroutine(&place, &g))
            g = 0;
    }
    worker->g = g;
    worker->tgid = tgid;
    worker->padding = 0;
    return has_polled_tasks(process) ? WORKER_IS_TASK : WORKER_IS_GOROUTINE;
}

// Above all numbers of threads and addresses.
#define GOROUTINE_ID (1ULL << 63)

__noinline u64 running_goroutine(void) {
    struct goroutine_key worker;
    u64 id;

    if (find_worker(&worker) != WORKER_IS_GOROUTINE || !worker.g)
        return 0;
    return find_goroutine_id(&worker, &id) && id ? GOROUTINE_ID | id : worker.g;
}
