// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/walk/thread_walk.h"

#include "frame_chain.h"
#include "perl.h"
#include "php.h"
#include "python.h"
#include "python_read.h"
#include "ruby.h"
#include "unwind.h"

#include ARCH(registers.h)

#include <stdlib.h>
#include <string.h>

// The maps that walks name, each by its address.
struct unwind_processes_map unwind_processes;
extern char unwind_tables[], unwind_cells[], hotspot_processes[], v8_layouts[], php_layouts[],
    ruby_layouts[], perl_layouts[], python_threads[];

// What is optional in a stack is left out.
struct wire_config config;
// No table is another's before the walk is over: who changes them waits for it.
const volatile __u32 late_walk_jiffies = 1;
const volatile bool disables_preemption;

enum { MOST_RETURNS = 64 };

struct current_thread {
    const struct walk_source* source;
    struct task_struct task;
    struct pt_regs___kernel registers;
    struct mm_struct memory;
    struct xol_area no_area; // where none of the thread's instructions is
    struct uprobe_task probes;
    struct return_instance returns[MOST_RETURNS];
    struct stack_walk walk;
};

static _Thread_local struct current_thread* current;

static const void* shard_at(const void* first_cell, u32 block) {
    return block < WIRE_UNWIND_SHARD_BLOCKS
               ? (const u64*)first_cell + (size_t)block * WIRE_UNWIND_BLOCK_CELLS
               : NULL;
}

void* bpf_map_lookup_elem(void* map, const void* key) {
    const struct {
        const void* map;
        enum walk_map name;
    } known[] = {
        {&unwind_processes, WALK_PROCESSES},
        {unwind_tables, WALK_TABLES},
        {unwind_cells, WALK_SHARDS},
        {&python_layouts, WALK_PYTHON_LAYOUTS},
        {hotspot_processes, WALK_HOTSPOT_PROCESSES},
        {v8_layouts, WALK_V8_LAYOUTS},
        {php_layouts, WALK_PHP_LAYOUTS},
        {ruby_layouts, WALK_RUBY_LAYOUTS},
        {perl_layouts, WALK_PERL_LAYOUTS},
    };
    u32 number = *(const u32*)key;

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (map == known[i].map)
            return (void*)current->source->look_up(current->source->owner, known[i].name, number);
    }
    // Where a thread has its state is looked for each time.
    if (map == python_threads)
        return NULL;
    // A shard that was found: of its blocks.
    return (void*)shard_at(map, number);
}

long bpf_map_update_elem(void* map, const void* key, const void* value, __u64 flags) {
    (void)map, (void)key, (void)value, (void)flags;
    return 0;
}

long bpf_probe_read_user(void* to, __u32 size, const void* from) {
    const struct walk_source* source = current->source;

    if (source->read(source->owner, (u64)from, to, size))
        return 0;
    memset(to, 0, size);
    return -1;
}

// As the kernel's: up to a zero, which is counted, or so many bytes, of which the last one is 0.
long bpf_probe_read_user_str(void* to, __u32 size, const void* from) {
    char* text = to;

    for (u32 i = 0; i < size; i++) {
        if (bpf_probe_read_user(text + i, 1, (const char*)from + i))
            return -1;
        if (!text[i])
            return i + 1;
    }
    if (size)
        text[size - 1] = '\0';
    return size;
}

struct task_struct* bpf_get_current_task_btf(void) {
    return &current->task;
}

__u64 bpf_get_current_pid_tgid(void) {
    return (u64)current->task.tgid << 32 | (u32)current->task.pid;
}

long bpf_task_pt_regs(struct task_struct* task) {
    (void)task;
    return (long)&current->registers;
}

__u64 bpf_jiffies64(void) {
    return 0;
}

int add_go_label(struct stack_walk* walk) {
    (void)walk;
    return 0;
}

static void take_thread(struct current_thread* to, const struct walked_thread* thread) {
    u64 registers[WIRE_USER_REGISTERS];

    memcpy(registers, thread->registers, sizeof(registers));
    take_user_registers(&to->registers, registers, thread->compat);
    to->task.tgid = (int)thread->pid;
    to->task.pid = (int)thread->tid;
    to->task.THREAD_POINTER = thread->thread_pointer;
    to->task.mm = &to->memory;
    to->task.utask = &to->probes;
    to->memory.uprobes_state.xol_area = &to->no_area;
    for (size_t i = 0; i < thread->return_count && i < MOST_RETURNS; i++) {
        to->returns[i].stack = thread->returns[i].slot;
        to->returns[i].orig_ret_vaddr = thread->returns[i].address;
        if (i)
            to->returns[i - 1].next = &to->returns[i];
        else
            to->probes.return_instances = to->returns;
    }
}

size_t walk_thread(const struct walked_thread* thread, const struct walk_source* source,
                   uint64_t* words) {
    struct current_thread* const now = calloc(1, sizeof(*now));
    size_t count;

    if (!now)
        return 0;
    now->source = source;
    take_thread(now, thread);
    current = now;
    count = (size_t)walk_user_stack(&now->walk, false);
    memcpy(words, now->walk.frames, count * sizeof(*words));
    current = NULL;
    free(now);
    return count;
}
