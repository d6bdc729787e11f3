// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A call begins. Of the call tracker alone.
#ifndef AUGER_CALL_ENTRY_H
#define AUGER_CALL_ENTRY_H

#include "call_owners.h"
#include "call_parts.h"
#include "call_settlement.h"
#include "call_target.h"
#include "call_values.h"
#include "goroutine_waits.h"

// A Go function that begins again is the call that began before; 0: it has not begun before.
__noinline int is_begun_again(struct open_calls* calls, u64 sp, u64 cookie, bool once_more) {
    u32 depth, spec = spec_index(cookie), generation = generation_of(cookie);

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        struct open_call* call = &calls->calls[i];

        if (i >= depth)
            break;
        if (call->sp != sp || call->spec != spec || call->generation != generation ||
            !(call->state & CALL_BEGINS_AGAIN))
            continue;
        if (!once_more)
            call->state = 0;
        return 1;
    }
    return 0;
}

// A call through a pointer that is none of the spec's: it proves, as every entry does, that earlier
// ones from here are gone. Else its return would end them.
__noinline int pass_by(u64 cookie, u64 sp, u64 place) {
    struct open_calls* calls = thread_storage(&open_calls, bpf_get_current_task_btf(), 0);
    u32 depth;

    if (!calls)
        return 0;
    settle_return(calls);
    depth = calls->depth;
    if (depth && calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)].sp <= sp) {
        struct settlement* s = begin_settlement(calls);
        s->now = bpf_ktime_get_ns();
        s->gone_below = sp + 1;
        s->entry_sp = sp;
        s->entry_spec = spec_index(cookie);
        s->entry_place = place;
        s->at_call_site = 1;
        s->goes_elsewhere = 1;

        settle(calls, s);
    }
    return 0;
}

// Whether a jump that is a call, or the end of one, leaves its function.
__noinline int begins_by_jump(struct pt_regs* ctx, u64 cookie) {
    return !(cookie & WIRE_COOKIE_CONDITIONAL) ||
           jump_is_taken(ctx, (cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15);
}

// A call that cannot be followed. An explained one around it lacks a part then.
static __always_inline int drop_entry(struct open_calls* calls, struct wire_call_counters* counters,
                                      enum wire_loss cause) {
    __sync_fetch_and_add(&counters->dropped, 1);
    count_loss(cause);
    if (calls->explained)
        miss_part(calls);
    return 1;
}

// `in_go`: a Go function's probe. One that has no room on its stack for what it does (which the
// condition in the cookie of its entry tells) begins again on a larger one. `is_short`: the probe
// for calls that are over at once, where the entry is a jump that may lead out of the function. The
// entry's other probe is for all other calls.
static __always_inline int enter(struct pt_regs* ctx, bool in_go, bool is_short) {
    u64 cookie = bpf_get_attach_cookie(ctx);
    bool at_call_site = cookie & WIRE_COOKIE_CALL_SITE;
    u64 sp = call_stack_pointer(PT_REGS_SP(ctx), at_call_site);
    u32 place = PT_REGS_IP(ctx);
    struct wire_spec* spec = spec_of_cookie(cookie);
    bool begins_again = false;
    u32 go_epoch = 0;
    struct goroutine owner;
    struct wire_call_counters* counters;
    struct open_calls* calls;
    struct open_call* call;
    u32 depth;

    if (!spec || !(cookie & WIRE_COOKIE_SECOND) != !(spec->flags & WIRE_SPEC_SECOND))
        return 1;
    counters = counters_of(spec_index(cookie));
    if (!counters)
        return 1;
    if (!is_short)
        __sync_fetch_and_add(&counters->entry_hits, 1);
    if ((cookie & WIRE_COOKIE_POINTER) && !calls_timed_function(ctx, cookie)) {
        pass_by(cookie, sp, place);
        return 1;
    }
    if (!in_go && (cookie & (WIRE_COOKIE_TAIL | WIRE_COOKIE_CONDITIONAL)) &&
        begins_by_jump(ctx, cookie) != (is_short || (cookie & WIRE_COOKIE_TAIL)))
        return 1;
    if (in_go) {
        u32 index = spec_index(cookie);
        const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_runtimes, &index);

        if (!runtime || !find_stack_owner(runtime, PT_REGS_SP(ctx), &owner))
            return 1;
        sp = call_stack_pointer(owner.sp, at_call_site);
        begins_again = (cookie & WIRE_COOKIE_CONDITIONAL) &&
                       jump_is_taken(ctx, (cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15);
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner.key);
        if (calls && is_begun_again(calls, sp, cookie, begins_again))
            return 0;
        // Of a call that is not kept it is not noted that it has begun.
        if (begins_again && (spec->program || (calls && calls->depth >= WIRE_MAX_OPEN_CALLS)))
            return 0;
        calls = calls_of_goroutine(&owner, runtime, counters);
        go_epoch = runtime->has_switches ? config.go_epoch : 0;
    } else {
        // A task's fields cost less than another helper's call.
        calls = calls_of_observed(bpf_get_current_task_btf(), counters);
    }
    if (!calls)
        return 1;
    // Nobody will see the end of a call that begins with a jump, unless it is known where the
    // function that jumps was called.
    if (!in_go && (cookie & WIRE_COOKIE_TAIL) && !returns_to_known_place(ctx, cookie))
        return drop_entry(calls, counters, WIRE_LOSS_CALLER);
    depth = calls->depth;
    if (depth && calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)].sp <= sp) {
        struct settlement* s = begin_settlement(calls);
        s->now = bpf_ktime_get_ns();
        s->gone_below = sp + 1;
        s->entry_sp = sp;
        s->entry_spec = spec_index(cookie);
        s->entry_place = place;
        s->at_call_site = at_call_site;
        s->at_jump = !in_go && (cookie & WIRE_COOKIE_TAIL);
        s->stack_base = calls->stack_base;

        settle(calls, s);
        depth = calls->depth;
    }
    if (depth >= WIRE_MAX_OPEN_CALLS)
        return drop_entry(calls, counters, WIRE_LOSS_DEPTH);
    call = &calls->calls[depth & (WIRE_MAX_OPEN_CALLS - 1)];
    call->sp = sp;
    call->sequence = next_sequence(calls, in_go);
    call->spec = spec_index(cookie);
    call->generation = generation_of(cookie);
    call->samples = 0;
    call->waits = 0;
    call->marks = 0;
    call->value_slot = NO_VALUE_SLOT;
    call->end_asked = 0;
    call->parts_ns = 0;
    call->nested_ns = 0;
    call->state = begins_again                            ? CALL_BEGINS_AGAIN
                  : spec->flags & WIRE_SPEC_RETURN_PROBES ? CALL_HAS_RETURN_PROBE
                                                          : 0;
    if (!in_go && (cookie & WIRE_COOKIE_TAIL))
        call->state = CALL_ENDS_IN_CALLER | CALL_HAS_JUMPED;
    else if (!in_go && (spec->flags & WIRE_SPEC_TAIL_ENDS))
        call->state = CALL_ENDS_IN_CALLEE;
    else if (!in_go && (spec->flags & WIRE_SPEC_TAILS) && returns_to_known_place(ctx, cookie))
        call->state = CALL_ENDS_IN_CALLER;
    if (spec->program) {
        u64 cfa = frame_address(ctx, at_call_site);

        if (begin_values(ctx, calls, call, cfa) & VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->filtered, 1);
            return 1;
        }
    }
    __sync_fetch_and_add(&counters->open, 1);
    call->wall_epoch = in_go ? go_epoch : config.wall_epoch;
    if (in_go && call->wall_epoch)
        begin_goroutine_waits(calls, call);
    call->blocked_ns = calls->blocked_ns;
    call->runnable_ns = calls->runnable_ns;
    call->longest_wait.blocked_ns = 0;
    call->place = place;
    if (at_call_site)
        call->return_address = place + ((cookie >> WIRE_COOKIE_CALL_LENGTH_SHIFT) & 15);
    else if (in_go || (is_on_own_stack(calls, sp) && !(call->state & CALL_ENDS_IN_CALLEE)))
        call->return_address = 0;
    else
        call->return_address = return_address_at(sp);
    if (!in_go && spec->part == WIRE_PART_WHOLE && !calls->explained)
        begin_whole(calls, call);
    barrier();
    call->start_ns = bpf_ktime_get_ns();
    // Behind it: rather too little is taken out of the duration than too much.
    call->own_ns = *(volatile u64*)&calls->own_ns;
    store_release(&calls->depth, depth + 1);
    return 0;
}

#endif
