// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Evaluation of gates. Functions of their own, verified once.
#include "gate.h"

__noinline int terms_of_call(const struct open_call* call, u32 gate, u64 now) {
    struct wire_gate* in_force = bpf_map_lookup_elem(&gates, &gate);
    struct wire_spec* spec;
    u32 index, candidates, fulfilled = 0;
    u64 age;

    if (!call || !in_force)
        return 0;
    index = call->spec;
    spec = bpf_map_lookup_elem(&specs, &index);
    if (!spec || (u16)spec->generation != call->generation)
        return 0;
    candidates = spec->terms >> (gate * WIRE_MAX_GATE_TERMS & 31);
    age = now > call->start_ns ? now - call->start_ns : 0;
    for (u32 i = 0; i < WIRE_MAX_GATE_TERMS; i++) {
        if ((candidates >> i & 1) && age >= in_force->term[i].value)
            fulfilled |= 1u << i;
    }
    return fulfilled;
}

// Likewise of its own, or the verifier would try every way through every turn of the loop below.
__noinline int terms_of_call_at(struct open_call* call, u32 gate, u64 now,
                                struct stack_place* here) {
    if (!call || (here && here->sp > call->sp && has_been_left(call, here)))
        return 0;
    return terms_of_call(call, gate, now);
}

__noinline int terms_of_calls(struct open_calls* calls, u32 gate, u64 now,
                              struct stack_place* here) {
    u32 depth, fulfilled = 0;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        fulfilled |= terms_of_call_at(&calls->calls[i], gate, now, here);
    }
    return fulfilled;
}

static __always_inline bool term_holds(const struct wire_gate_term* term,
                                       const struct gate_thread* thread) {
    const u64* comm = (const u64*)term->comm;

    switch (term->kind) {
    case WIRE_TERM_PID:
        return term->value == thread->pid;
    case WIRE_TERM_TID:
        return term->value == thread->tid;
    case WIRE_TERM_CGROUP:
        return term->value == thread->cgroup;
    case WIRE_TERM_COMM:
        return comm[0] == thread->comm[0] && comm[1] == thread->comm[1];
    default:
        return false;
    }
}

__noinline int note_term(const struct wire_gate_term* term, const struct gate_thread* thread) {
    return term && thread && term_holds(term, thread);
}

__noinline int gate_holds(u32 gate, const struct gate_thread* thread, u32 fulfilled) {
    struct wire_gate* in_force = bpf_map_lookup_elem(&gates, &gate);

    if (!in_force || !thread)
        return 1;
    for (u32 i = 0; i < WIRE_MAX_GATE_TERMS; i++) {
        if (i >= in_force->terms)
            break;
        if (note_term(&in_force->term[i], thread))
            fulfilled |= 1u << i;
    }
    for (u32 i = 0; i < WIRE_MAX_CLAUSES; i++) {
        if (i >= in_force->clauses)
            break;
        if ((fulfilled & in_force->clause[i].all) == in_force->clause[i].all &&
            !(fulfilled & in_force->clause[i].none))
            return 1;
    }
    return !in_force->clauses;
}
