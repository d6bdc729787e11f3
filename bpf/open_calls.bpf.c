// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Whether a call has been left, judged by the stacks. A function of its own, verified once.
#include "open_calls.h"
#include "go_runtime.h"
#include "spans.h"

enum { ENOENT = 2, EBUSY = 16 };

struct find_stack {
    u64 start;
    u64 end;
};

static long note_stack(struct task_struct* task, struct vm_area_struct* area,
                       struct find_stack* found) {
    found->start = BPF_CORE_READ(area, vm_start);
    found->end = BPF_CORE_READ(area, vm_end);
    return 0;
}

// Whether `sp` is on the stack that the kernel made for the process, or on the one that
// pthread_create made for the thread: both glibc and musl put the thread's control block, to which
// the thread pointer leads, at its upper end. What lies behind that in one mapping is another's, of
// a coroutine perhaps: the kernel makes one mapping of neighbours. `stack` becomes the part that
// `sp` is on.
static __always_inline bool is_own_stack(struct task_struct* task, struct find_stack* stack,
                                         u64 sp) {
    u64 control_block = BPF_CORE_READ(task, THREAD_POINTER);
    u64 first_stack = BPF_CORE_READ(task, mm, start_stack);

    // The first thread's control block was made by whoever loaded the program, among what is mapped
    // anyway. (A forked process's first thread may be another one's copy: its stack is not known.)
    if (task->pid == task->tgid)
        return first_stack >= stack->start && first_stack < stack->end;
    if (control_block >= stack->start && control_block < stack->end) {
        if (sp < control_block) {
            stack->end = control_block;
            return true;
        }
        stack->start = control_block;
        return false;
    }
    return first_stack >= stack->start && first_stack < stack->end;
}

static __always_inline void find_mapping_of(struct stack_place* place) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct find_stack found = {};

    place->is_found = 1;
    place->end = 0;
    place->is_own = 0;
    if (bpf_find_vma(task, place->sp, note_stack, &found, 0))
        return;
    place->is_own = is_own_stack(task, &found, place->sp);
    place->start = found.start;
    place->end = found.end;
}

// Of the mapping of a stack that the thread is not on. Where it cannot be told now, it exists.
static __always_inline bool is_gone(u64 sp) {
    struct find_stack found = {};

    return bpf_find_vma(bpf_get_current_task_btf(), sp, note_stack, &found, 0) == -ENOENT;
}

// Whether `sp` is so near the end of the thread's own stack that it cannot be on another one: less
// below it than the kernel maps for a program before it runs (`stack_expand` of setup_arg_pages()),
// or than the smallest stack of a thread (PTHREAD_STACK_MIN in glibc).
static __always_inline bool is_near_stack_end(struct task_struct* task, u64 sp) {
    const u64 first_stack = 128 << 10, smallest_stack = 16 << 10;

    return BPF_CORE_READ(task, mm, start_stack) - sp < first_stack ||
           BPF_CORE_READ(task, THREAD_POINTER) - sp < smallest_stack;
}

// Whether `sp`, which is above a call that began on the thread's own stack, is on it, too. Asked
// where the mappings cannot be read now. Where the stack lies was remembered when such a call
// began, or the call is near the stack's end: then what is above it there is nearer.
static __noinline int is_on_known_stack(u64 sp) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct open_calls* calls = bpf_task_storage_get(&open_calls, task, NULL, 0);

    return calls && calls->own_stack_end ? sp < calls->own_stack_end : is_near_stack_end(task, sp);
}

__noinline int has_been_left(struct open_call* call, struct stack_place* here) {
    u64 return_address = 0;

    if (!call || !here)
        return 0;
    // A goroutine has one stack.
    if (call->sequence & WIRE_CALL_OF_NO_THREAD)
        return 1;
    if (!here->is_found)
        find_mapping_of(here);
    if (here->end && (call->sp < here->start || call->sp >= here->end))
        return is_gone(call->sp);
    if (here->is_own)
        return 1;
    if (!here->end && !call->return_address)
        return is_on_known_stack(here->sp);
    read_return_address(&return_address, sizeof(return_address), 0, call->sp);
    return (u32)return_address != call->return_address;
}

__noinline int find_own_stack(struct open_calls* calls, u64 sp) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct find_stack here = {};
    long failed;

    if (!calls)
        return 0;
    failed = bpf_find_vma(task, sp, note_stack, &here, 0);
    // Another thread changes the mappings now, and has their lock.
    if (failed == -EBUSY)
        return is_near_stack_end(task, sp);
    if (failed || !is_own_stack(task, &here, sp))
        return 0;
    calls->own_stack_start = here.start;
    calls->own_stack_end = here.end;
    return 1;
}

// Of its own, or the verifier would try every way through every turn of the loop that calls it.
__noinline int charge_unseen_wait_to_call(struct open_call* call, const struct wire_wait* wait) {
    if (!call || !wait)
        return 0;
    if (wait->blocked_ns > call->longest_wait.blocked_ns)
        call->longest_wait = *wait;
    call->end_asked++;
    return 0;
}

// The calls that the thread has waited in, and the spans that it has worked for.
static __always_inline void charge_unseen_wait_to_calls(struct open_calls* calls) {
    u32 in_calls = calls->away_in_calls;

    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (!(in_calls >> i))
            break;
        if (in_calls >> i & 1)
            charge_unseen_wait_to_call(&calls->calls[i], &calls->away_in);
    }
    if (calls->attached && calls->away_in_spans)
        charge_unseen_wait_to_spans(&calls->spans, &calls->away_in);
}

// The off-CPU sampler has not seen the thread come back from its wait. Whether it is a sample, and
// whether anything of it is lost, is found when the thread goes again.
__noinline int charge_unseen_wait(struct open_calls* calls) {
    struct task_struct* task = bpf_get_current_task_btf();
    struct absence away;
    u64 at, runnable_ns;

    if (!calls)
        return 0;
    away = calls->away;
    // A program may be preempted: then the sampler has seen to it.
    away.since_ns = __sync_lock_test_and_set(&calls->away.since_ns, 0);
    if (!away.since_ns || away.epoch != config.wall_epoch)
        return 0;
    at = returned_at(task, &away, bpf_ktime_get_ns());
    if (at) {
        runnable_ns = runnable_until(task, &away, at);
        calls->away_in.blocked_ns = at - away.since_ns - runnable_ns;
        calls->blocked_ns += calls->away_in.blocked_ns;
        calls->runnable_ns += runnable_ns;
        charge_unseen_wait_to_calls(calls);
    }
    return 0;
}
