// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The task that the current thread runs, where no stack is walked: the value `task` of a call.
#include "kernel_types.h"
#include "maps.h"
#include "thread_storage.h"

#include ARCH(registers.h)

#include "python_task.h"

/* What is read on the way: a thread's, since a uprobe's program may be preempted. Written and read
 * by the call tracker alone, for threads of which the task is asked. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct stack_walk);
} task_walks SEC(".maps");

enum {
    /* That are gone through for the task: of a function that has called itself more often it is not
     * known. */
    FRAMES_OF_TASK = 512,
};

// What a look at some frames has led to.
enum task_search { TASK_KNOWN, TASK_UNREADABLE, TASK_FURTHER_OUT };

// From walk->python.frame to its caller's.
__noinline int pass_task_frame(struct stack_walk* walk, const struct wire_python_layout* layout) {
    u64 frame, code;
    u32 flags = 0;
    u8 owner, kind;

    if (!walk || !layout)
        return TASK_UNREADABLE;
    frame = walk->python.frame;
    if (!frame)
        return TASK_KNOWN;
    if (!read_frame_words(walk, layout, frame))
        return TASK_UNREADABLE;
    walk->python.frame = word_of(walk, layout->frame_previous);
    owner = byte_of(walk, layout->frame_owner);
    kind = kind_of_frame(walk, layout);
    code = word_of(walk, layout->frame_code) & ~7ull;
    if (layout->boundary == WIRE_PYTHON_SHIM && owner >= WIRE_PYTHON_SHIM_OWNER)
        return TASK_FURTHER_OUT;
    if (ends_task(&walk->python, kind))
        return TASK_KNOWN;
    walk->python.outermost = frame;
    if (kind != WIRE_PYTHON_GENERATOR_OWNER)
        return TASK_FURTHER_OUT;
    if (code >> USER_ADDRESS_BITS ||
        bpf_probe_read_user(&flags, sizeof(flags), (void*)(code + layout->code_flags)))
        return TASK_UNREADABLE;
    if (is_coroutine(kind, flags))
        walk->python.coroutine = generator_of(walk, layout, frame);
    return TASK_FURTHER_OUT;
}

__noinline int pass_some_task_frames(struct stack_walk* walk,
                                     const struct wire_python_layout* layout) {
    int found = TASK_FURTHER_OUT;

    for (u32 i = 0; i < TURNS_AT_ONCE && found == TASK_FURTHER_OUT; i++)
        found = pass_task_frame(walk, layout);
    return found;
}

__noinline int find_python_task(struct python_task* task) {
    struct task_struct* thread = bpf_get_current_task_btf();
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &pid);
    int found = TASK_FURTHER_OUT;
    struct wire_python_layout* layout;
    struct stack_walk* walk;

    if (!task)
        return 0;
    task->coroutine = task->outermost = 0;
    if (!process || !process->python)
        return 0;
    walk = thread_storage(&task_walks, thread, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!walk) {
        count_loss(WIRE_LOSS_VALUES);
        return 0;
    }
    walk->process.python = process->python;
    walk->process.python_layout = process->python_layout;
    layout = layout_of(walk);
    if (!layout)
        return 0;
    walk->python.thread_pointer = thread->THREAD_POINTER;
    walk->python.coroutine = walk->python.outermost = 0;
    walk->chain.stop = 0;
    if (!find_python_thread(walk, layout))
        return !walk->chain.stop;
    for (u32 i = 0; i < FRAMES_OF_TASK / TURNS_AT_ONCE && found == TASK_FURTHER_OUT; i++)
        found = pass_some_task_frames(walk, layout);
    if (found != TASK_KNOWN)
        return 0;
    task->coroutine = walk->python.coroutine;
    task->outermost = walk->python.outermost;
    return 1;
}
