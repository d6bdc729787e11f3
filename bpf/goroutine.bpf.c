// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which goroutine a thread runs, or works for. Functions of their own, verified once.
#include "goroutine.h"

struct goroutine_calls_map goroutine_calls SEC(".maps");
struct go_processes_map go_processes SEC(".maps");

// No address has it.
#define OF_THREAD (1ULL << 63)

struct go_stack {
    u64 low;
    u64 high;
};

static __always_inline u64 read_word(u64 address) {
    u64 word = 0;

    bpf_probe_read_user(&word, sizeof(word), (void*)address);
    return word;
}

// A g begins with the bounds of its stack, in all versions.
static __always_inline bool read_stack(u64 g, struct go_stack* stack) {
    return g && !bpf_probe_read_user(stack, sizeof(*stack), (void*)g);
}

static __always_inline u64 g_of_thread(const struct wire_go_runtime* runtime) {
    return read_word(bpf_get_current_task_btf()->THREAD_POINTER + (s64)runtime->thread_g);
}

static __always_inline void be_goroutine(struct goroutine* out, u64 g, u64 stack_end, u64 sp) {
    out->key.g = g;
    out->key.tgid = bpf_get_current_pid_tgid() >> 32;
    out->key.padding = 0;
    out->stack_end = stack_end;
    out->sp = sp - stack_end;
}

// Whoever the thread's g says it is, if the stack pointer agrees.
static __always_inline void be_owner(struct goroutine* out, u64 g, u64 sp) {
    struct go_stack stack;

    if (read_stack(g, &stack) && sp > stack.low && sp <= stack.high)
        be_goroutine(out, g, stack.high, sp);
    else
        be_goroutine(out, OF_THREAD | (u32)bpf_get_current_pid_tgid(), 0, sp);
}

__noinline int find_stack_owner(const struct wire_go_runtime* runtime, u64 sp,
                                struct goroutine* owner) {
    if (!runtime || !owner)
        return 0;
    be_owner(owner, g_of_thread(runtime), sp);
    return 1;
}

// Where the goroutine is on its stack, from that's end, while its thread is on another one. Only
// who switches to the scheduler's says where it goes on. Who borrows that for a moment (for code of
// the vDSO, of race detectors), or is interrupted by a signal, does not: then all of the stack
// counts, with all calls on it.
static __always_inline u64 saved_place(const struct wire_go_runtime* runtime, u64 g, u64 m,
                                       u64 worked_for, const struct go_stack* stack) {
    // An m begins with the g of its scheduler, in all versions.
    return g == read_word(m) ? read_word(worked_for + runtime->g_saved_sp) : stack->low;
}

__noinline int find_goroutines(u64 sp, struct goroutines* found) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);
    u64 g, m, worked_for;
    struct go_stack stack;

    if (!runtime || !found)
        return 0;
    g = g_of_thread(runtime);
    be_owner(&found->on_stack, g, sp);
    found->worked_for.key.g = 0;
    m = read_word(g + runtime->g_m);
    worked_for = read_word(m + runtime->m_curg);
    // The thread's g may still be that goroutine although the stack is not its.
    if (worked_for && worked_for != found->on_stack.key.g && read_stack(worked_for, &stack))
        be_goroutine(&found->worked_for, worked_for, stack.high,
                     saved_place(runtime, g, m, worked_for, &stack));
    return 1;
}
