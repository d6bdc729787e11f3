// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which open calls are gone, and which one an exit ends: what is decided by stack pointers. Of the
// call tracker alone.
#ifndef AUGER_CALL_SETTLEMENT_H
#define AUGER_CALL_SETTLEMENT_H

#include "call_ends.h"
#include "return_probes.h"
#include "tail_calls.h"

static __always_inline struct settlement* begin_settlement(struct open_calls* calls) {
    __builtin_memset(&calls->settlement, 0, sizeof(calls->settlement));
    return &calls->settlement;
}

static __always_inline u32 return_address_at(u64 sp) {
    u32 address = 0;

    read_return_address(&address, sizeof(address), 0, sp);
    return address;
}

// Whether a call site's call came back by its return: its address is still in place below the stack
// pointer. Whoever arrives otherwise (catches an exception, longjmps) has written over it on the
// way, by a call. What cannot be read just now is taken for a return, which is what happens.
static __always_inline bool has_returned(const struct open_call* call, u64 stack_base) {
    u64 address = 0;

    // Before Linux 6.11 what a return probe has put there stays.
    return read_return_address(&address, sizeof(address), stack_base, call->sp) ||
           (u32)address == call->return_address || is_return_probe(address);
}

// Whether the return address that lies there has been replaced by a return probe. Whoever calls
// puts one in place that is not; so the function that begins there has been jumped to.
static __always_inline bool returns_to_probe(u64 sp) {
    u64 address = 0;

    return !read_return_address(&address, sizeof(address), 0, sp) && is_return_probe(address);
}

// There may be calls with the stack pointer of the one that begins and yet not gone. It may be the
// same call, which another probe on this instruction has just seen begin: not when this probe has
// one open there too, since then they are both from an earlier time. Or, at a call instruction, it
// came back to this very instruction, and the probe that ends it is yet to come.
static __always_inline bool lives_beside_entry(const struct open_call* call, struct settlement* s) {
    // What it has jumped to begins. The function itself comes from its caller again: unless several
    // jump to each other in turn, which is not told from that.
    if ((call->state & CALL_HAS_JUMPED) ||
        ((call->state & CALL_HAS_RETURN_PROBE) && returns_to_probe(call->sp)))
        return call->spec != s->entry_spec;
    // The function that jumps has it, too.
    if (s->at_jump)
        return call->spec != s->entry_spec;
    if (call->place != s->entry_place)
        return s->at_call_site && has_returned(call, s->stack_base);
    // What other probes see begin here may have begun just now.
    if (s->goes_elsewhere)
        return call->spec != s->entry_spec;
    if (call->spec == s->entry_spec)
        s->again = 1;
    return !s->again;
}

// Drops the open call at `index`, or moves it down behind those kept so far. A function of its own,
// or the verifier would try every way through every turn of the loop below.
__noinline int settle_one(struct open_calls* calls, struct settlement* s, u32 index) {
    struct open_call* call;

    if (!calls || !s)
        return 0;
    call = &calls->calls[index & (WIRE_MAX_OPEN_CALLS - 1)];
    if (s->exit_generation && call->sp == s->exit_sp && call->spec == s->exit_spec &&
        call->generation == s->exit_generation) {
        // Of two such calls the older one must have gone unnoticed.
        if (s->found)
            end_unwound(calls, &calls->ending, s->now);
        calls->ending = *call;
        s->found = 1;
        return 0;
    }
    if (!(s->entry_place && call->sp == s->entry_sp && lives_beside_entry(call, s)) &&
        call->sp < s->gone_below &&
        (call->sp == s->entry_sp || has_been_left(call, &calls->here))) {
        end_unwound(calls, call, s->now);
        return 0;
    }
    calls->calls[s->kept & (WIRE_MAX_OPEN_CALLS - 1)] = *call;
    s->kept++;
    return 0;
}

// Takes out what is gone and what the exit ends, and closes the gaps. Depth is 0 meanwhile: the
// sampler finds no calls rather than half-moved ones.
__noinline int settle(struct open_calls* calls, struct settlement* s) {
    u32 depth;

    if (!calls || !s)
        return 0;
    calls->here.sp = s->gone_below;
    calls->here.is_found = 0;
    depth = calls->depth;
    calls->depth = 0;
    barrier();
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        settle_one(calls, s, i);
    }
    store_release(&calls->depth, s->kept);
    return 0;
}

#endif
