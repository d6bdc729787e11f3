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

__noinline int find_goroutines(u64 sp, struct goroutines* found) {
    u32 tgid = bpf_get_current_pid_tgid() >> 32;
    const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_processes, &tgid);
    u64 g, worked_for;
    struct go_stack stack;

    if (!runtime || !found)
        return 0;
    g = g_of_thread(runtime);
    be_owner(&found->on_stack, g, sp);
    found->worked_for.key.g = 0;
    worked_for = read_word(read_word(g + runtime->g_m) + runtime->m_curg);
    if (worked_for && worked_for != g && read_stack(worked_for, &stack))
        be_goroutine(&found->worked_for, worked_for, stack.high,
                     read_word(worked_for + runtime->g_saved_sp));
    return 1;
}
