// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Walks user stacks: frame by frame by the tables that user space has made of call frame
// information, and by frame pointers where code has none. What cannot be proven is not guessed: the
// stack ends there and says why. Each step is a function of its own, so that the verifier looks at
// it once and not at every turn of the loop.
#include "frame_chain.h"
#include "perl.h"
#include "php.h"
#include "python.h"
#include "ruby.h"
#include "unwind_steps.h"

#include ARCH(walk_probes.h)
#include ARCH(registers.h)

__noinline int begin_walk(struct stack_walk* walk) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    struct wire_unwind_process* process = bpf_map_lookup_elem(&unwind_processes, &pid);

    if (!walk)
        return 0;
    walk->count = 0;
    walk->began = bpf_jiffies64();
    walk->bx_state = WIRE_RBX_VALUE;
    walk->exact = 1;
    walk->return_instance = 0;
    walk->return_instance_slot = 0;
    walk->mapping.start = 0;
    walk->mapping.end = 0;
    walk->window_start = 0;
    walk->window_end = 0;
    if (process)
        walk->process = *process;
    else
        __builtin_memset(&walk->process, 0, sizeof(walk->process));
    clear_chain(walk);
    walk->loop.code.body_size = 0;
    walk->loop.code.cold_size = 0;
    walk->perl.interpreter = 0;
    walk->python.boundary = 0;
    walk->python.coroutine = 0;
    walk->python.has_task = 0;
    walk->python.frame = 0;
    walk->python.outermost = 0;
    walk->ruby.has_chain = 0;
    walk->v8.inner = 0;
    walk->parked_g = 0;
    return 0;
}

// Puts what is known of a runtime's frame in the place of its address, if there is room for it and
// the word that says why a stack is cut.
static __always_inline void place_noted_frame(struct stack_walk* walk, u32 at) {
    if (!walk->noted.first || at >= WIRE_STACK_WORDS - 4)
        return;
    if (walk->noted.code) {
        walk->frames[at] = walk->noted.code;
        walk->frames[at + 1] = walk->noted.code_second;
        at += 2;
    }
    walk->frames[at] = walk->noted.first;
    walk->frames[at + 1] = walk->noted.second;
    walk->count = at + 2;
}

// Some frames, from walk->ip on: why the stack ends there, or WIRE_STOPS.
__noinline int walk_some_frames(struct stack_walk* walk, bool at_return) {
    u32 stop = WIRE_STOPS;

    if (!walk)
        return WIRE_STOP_END;
    for (u32 i = 0; i < TURNS_AT_ONCE && stop == WIRE_STOPS; i++) {
        u32 at = walk->count;
        u64 sp = walk->sp;

        // Kept in memory over the step: the BPF stack is short.
        walk->loop.is_at_hand = is_in_loop(walk);
        // Read from the target's memory, it may be anything; a frame's flags stand above addresses.
        if (walk->ip >> USER_ADDRESS_BITS)
            return WIRE_STOP_STUCK;
        if (at >= WIRE_STACK_WORDS - 1)
            return WIRE_STOP_DEPTH;
        walk->frames[at] = walk->ip | (walk->exact && at ? WIRE_FRAME_EXACT : 0);
        walk->count = at + 1;
        walk->noted.first = 0;
        walk->noted.code = 0;
        walk->v8.frame = V8_FRAME_UNKNOWN;
        stop = step_through_code(walk, at_return);
        place_noted_frame(walk, at);
        if (has_python_frames(walk, sp))
            place_python_frames(walk);
        // Where the walk ends the piece is appended with its boundary, so that user space, which
        // may go on, knows it.
        if (walk->loop.is_at_hand && stop == WIRE_STOPS && has_chain_frames(walk))
            place_chain_frames(walk);
    }
    return stop;
}

// From the registers on, until it is known why it ends.
static __always_inline u32 walk_frames(struct stack_walk* walk, bool at_return, u32 stop) {
    for (u32 i = 0; i < WIRE_MAX_USER_FRAMES / TURNS_AT_ONCE && stop == WIRE_STOPS; i++)
        stop = walk_some_frames(walk, at_return);
    return stop == WIRE_STOPS ? WIRE_STOP_DEPTH : stop;
}

// That stand for one frame, whose first word is this.
static __always_inline u32 words_of_frame(u64 first) {
    if (!(first & WIRE_FRAME_RUNTIME))
        return 1;
    // Two of the code, and two of the function.
    return (first & WIRE_FRAME_KIND) == WIRE_FRAME_V8_CODE ? 4 : 2;
}

static __always_inline u32 check_time(struct stack_walk* walk, u32 stop) {
    // What the walk has read may have been another table's meanwhile. An interpreter's chain is
    // right, and follows as a whole.
    if (bpf_jiffies64() - walk->began < late_walk_jiffies)
        return stop;
    walk->count = words_of_frame(walk->frames[0]);
    walk->chain.placed = 0;
    return WIRE_STOP_LATE;
}

__noinline int end_walk(struct stack_walk* walk, u32 stop) {
    u32 at;

    if (!walk)
        return 0;
    if (stop == WIRE_STOP_END && walk->chain.stop)
        stop = walk->chain.stop;
    // User space puts Ruby's and Perl's frames in their places.
    if (walk->ruby.has_chain || walk->perl.interpreter) {
        append_chain_frames(walk);
        if (stop == WIRE_STOP_END && has_chain_frames(walk))
            stop = WIRE_STOP_DEPTH;
    }
    // A fiber's native stack ends where it begins, and PHP's frames go on to who has resumed it.
    if (stop == WIRE_STOP_END) {
        if (walk->loop.code.body_size && has_chain_frames(walk))
            append_chain_frames(walk);
        if (config.go_label)
            add_go_label(walk);
        return walk->count;
    }
    // What has no boundary has no place: a chain that ends before its own is shown all the same.
    if (walk->python.boundary || walk->chain.stop || walk->loop.code.body_size ||
        stop == WIRE_STOP_LATE)
        append_chain_frames(walk);
    // User space may go on to the end of the native frames.
    if (walk->count >= WIRE_STACK_WORDS - 2 && has_chain_frames(walk))
        walk->chain.stop = WIRE_STOP_DEPTH;
    if (config.go_label)
        add_go_label(walk);
    at = walk->count;
    if (at < WIRE_STACK_WORDS) {
        walk->frames[at] = WIRE_STACK_CUT | stop;
        walk->count = at + 1;
    }
    return walk->count;
}

__noinline int walk_user_stack(struct stack_walk* walk, bool at_return) {
    struct task_struct* task = bpf_get_current_task_btf();
    u32 stop = WIRE_STOPS;
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);
    const struct uprobe_task* utask;
    int place = PLACE_KNOWN;

    if (!walk)
        return 0;
    walk->count = 0;
    if (!task->mm)
        return 0;
    begin_walk(walk);
    TAKE_WALK_REGISTERS(walk, regs);
    // A process that has several has Python's: the chain is one.
    if (walk->process.python)
        read_python_frames(walk);
    else if (walk->process.php)
        read_php_frames(walk);
    else if (walk->process.ruby.way)
        read_ruby_frames(walk);
    else if (walk->process.perl)
        read_perl_frames(walk);
    utask = task->utask;
    if (utask) {
        const struct return_instance* instance = BPF_CORE_READ(utask, return_instances);

        walk->return_instance = (u64)instance;
        if (instance)
            walk->return_instance_slot = BPF_CORE_READ(instance, stack);
        place = leave_probe(walk);
    }
    if (is_compat(regs) || place == PLACE_UNKNOWN) {
        walk->frames[0] = walk->ip;
        walk->count = 1;
        stop = place == PLACE_UNKNOWN ? WIRE_STOP_UNREADABLE : WIRE_STOP_UNSUPPORTED;
    }
    stop = walk_frames(walk, at_return, stop);
    // No thread begins in a function that is probed where it begins.
    if (stop == WIRE_STOP_END && place == PLACE_GUESSED && walk->count == 1)
        stop = WIRE_STOP_NO_MAPPING;
    stop = check_time(walk, stop);
    // A thread that executes another program has no stack for a while: only the kernel's part.
    if (stop != WIRE_STOP_END && is_exec(regs)) {
        walk->count = 0;
        return 0;
    }
    return end_walk(walk, stop);
}

__noinline int walk_parked_stack(struct stack_walk* walk, u64 g, u64 ip, u64 sp) {
    if (!walk)
        return 0;
    begin_walk(walk);
    walk->parked_g = g;
    walk->in_kernel = 0;
    walk->ip = ip;
    walk->sp = sp;
    walk->bp = 0; // Go's functions are left by the stack pointer
    walk->bx = 0;
    walk->bx_state = WIRE_RBX_LOST;
    return end_walk(walk, check_time(walk, walk_frames(walk, false, WIRE_STOPS)));
}
