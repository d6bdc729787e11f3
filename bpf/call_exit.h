// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A call returns: counted, and told where somebody wants to know. Of the call tracker alone.
#ifndef AUGER_CALL_EXIT_H
#define AUGER_CALL_EXIT_H

#include "call_owners.h"
#include "call_parts.h"
#include "call_settlement.h"
#include "call_target.h"
#include "call_values.h"
#include "goroutine_waits.h"
#include "slow_tracer.h"
#include "span_points.h"

enum told {
    TOLD_SLOW = 1,
    TOLD_IN_CALLER = 2,
    TOLD_WITH_VALUES = 4,
    TOLD_JUDGED = 8, // its values have been read, and the label is in calls->end
    TOLD_EARLY = 16, // some instructions before the one that returns
};

// A returned call of which something is told.
static __noinline int tell_end(struct pt_regs* ctx, struct open_calls* calls, u64 now, u32 how) {
    struct open_call* call = &calls->ending;
    struct wire_call_end* end = &calls->end;
    struct wire_values* values = NULL;
    u64 label_value;
    u32 label;

    if (how & TOLD_WITH_VALUES) {
        if (!(how & TOLD_JUDGED) && (end_values(ctx, calls) & VERDICT_NOT_TRACED))
            how &= ~TOLD_SLOW;
        values = values_of(call);
    }
    label = end->label;
    label_value = end->label_value;
    fill_end(end, calls, call, now);
    tell_goroutine_waits(calls, end);
    if (values && label) {
        end->label = label;
        end->label_value = label_value;
        if (label == WIRE_LABEL_STRING)
            __builtin_memcpy(calls->label, values->string[label_value & (WIRE_MAX_STRINGS - 1)],
                             WIRE_STRING);
    }
    if (how & TOLD_SLOW)
        end->flags |= WIRE_CALL_SLOW;
    if (is_end_wanted(call))
        send_end(calls);
    if (!(how & TOLD_SLOW))
        return 0;
    count_tracing(call->spec, trace_slow_call(calls, calls, values, how & TOLD_IN_CALLER,
                                              !(how & (TOLD_IN_CALLER | TOLD_EARLY))));
    return 0;
}

// What was sampled in a call that does not count must not be taken for part of one that goes on.
static __noinline int tell_filtered(struct open_calls* calls, u64 now) {
    if (!is_end_wanted(&calls->ending))
        return 0;
    fill_end(&calls->end, calls, &calls->ending, now);
    calls->end.flags |= WIRE_CALL_FILTERED;
    send_end(calls);
    return 0;
}

// Takes the call that ends at `sp` out of the open ones, to be `ending`.
static __always_inline bool take_out(struct open_calls* calls, u64 cookie, u64 sp, u64 now) {
    u32 depth = calls->depth;
    struct open_call* top;

    if (!depth)
        return false;
    top = &calls->calls[(depth - 1) & (WIRE_MAX_OPEN_CALLS - 1)];
    if (top->sp == sp && top->spec == spec_index(cookie) &&
        top->generation == generation_of(cookie)) {
        calls->depth = depth - 1;
        barrier();
        calls->ending = *top;
        return true;
    } else {
        struct settlement* s = begin_settlement(calls);
        s->now = now;
        s->gone_below = sp;
        s->exit_sp = sp;
        s->exit_spec = spec_index(cookie);
        s->exit_generation = generation_of(cookie);

        settle(calls, s);
        // Of several calls that end in one place, what is around which is not known.
        if (s->found && calls->explained)
            miss_part(calls);
        // Not found: an exit of a call that was dropped or filtered, or began before us.
        return s->found;
    }
}

// The call that returns is a point of a span; its values have been read where there are any.
static __always_inline void reach_returned_point(struct open_calls* calls,
                                                 const struct wire_spec* spec, bool judged) {
    u64 key = 0;

    if (!(spec->point.flags & WIRE_SPAN_AT_RETURN))
        return;
    if (spec->point.flags & WIRE_SPAN_KEYED) {
        // Whatever it is of, a number that is not 0 is one.
        if (judged && calls->end.label == WIRE_LABEL_NUMBER && calls->end.label_value) {
            key = calls->end.label_value;
        } else {
            int found = judged ? read_key(&calls->ending, &key) : KEY_UNREADABLE;

            if (found == KEY_UNREADABLE)
                count_loss(WIRE_LOSS_SPAN_KEY);
            if (found != KEY_KNOWN)
                return;
        }
    }
    reach_point_of_span(calls, calls->ending.spec, spec, key);
}

// Whether the exit is before the instruction that returns.
static __always_inline bool is_early(u64 cookie) {
    return cookie >> WIRE_COOKIE_FRAME_SHIFT;
}

// `sp` as in open_call. `in_caller`: the function has returned already. `counters` are looked up
// where they are null. What comes after `now` is in no duration.
static __always_inline int leave_call(struct pt_regs* ctx, struct open_calls* calls,
                                      const struct wire_spec* spec, u64 cookie, u64 sp,
                                      bool in_caller, struct wire_call_counters* counters,
                                      bool in_go, u64 now) {
    struct wire_call_histogram* histogram;
    struct open_call* call;
    u32 verdict = 0, how = in_caller ? TOLD_IN_CALLER : is_early(cookie) ? TOLD_EARLY : 0;
    u64 duration, own_ns, slow_ns;

    own_ns = *(volatile u64*)&calls->own_ns;
    if (!take_out(calls, cookie, sp, now))
        return 0;
    calls->own_ns_at_end = own_ns;
    call = &calls->ending;
    if ((cookie & WIRE_COOKIE_CALL_SITE) && !has_returned(call, calls->stack_base)) {
        end_unwound(calls, call, now);
        return 0;
    }
    if (!counters)
        counters = counters_of(spec_index(cookie));
    histogram = histogram_of(spec_index(cookie));
    if (!counters || !histogram)
        return 0;
    if (spec->program) {
        how |= TOLD_WITH_VALUES;
        if (is_judged_at_end(call)) {
            verdict = end_values(ctx, calls);
            how |= TOLD_JUDGED;
        }
        if (verdict & VERDICT_FILTERED) {
            __sync_fetch_and_add(&counters->open, -1);
            __sync_fetch_and_add(&counters->filtered, 1);
            if (calls->explained)
                end_part(calls, WIRE_PART_NONE, 0, now);
            end_nested(calls, call->nested_ns);
            return tell_filtered(calls, now);
        }
    }
    duration = duration_of(calls, call, now);
    count_duration(counters, histogram, duration);
    count_nested(counters, call, duration);
    end_nested(calls, spec->point.role ? call->nested_ns : duration);
    if (calls->explained)
        end_part(calls, spec->part, duration, now);
    if (spec->counted_marks)
        count_marks(call, spec->counted_marks);
    if (in_go)
        end_goroutine_waits(calls, duration);
    count_return(counters);
    // Of Go's functions none is a point: see LiveProbes::no_point().
    if (!in_go && spec->point.role) {
        reach_returned_point(calls, spec, how & TOLD_JUDGED);
        return 0;
    }
    slow_ns = *(volatile u64*)&spec->slow_ns; // which an edit may change at any time
    if ((spec->flags & WIRE_SPEC_TRACE_SLOW) && duration > slow_ns &&
        !(verdict & VERDICT_NOT_TRACED)) {
        calls->threshold_ns = slow_ns;
        how |= TOLD_SLOW;
    }
    // Of most calls there is nothing to tell: nothing is put together for them.
    if (!(how & TOLD_SLOW) && !is_end_wanted(call))
        return 0;
    return tell_end(ctx, calls, now, how);
}

// Whether the instruction is an exit now: a conditional jump is one when it jumps.
static __always_inline bool is_leaving(struct pt_regs* ctx, u64 cookie) {
    return !(cookie & WIRE_COOKIE_CONDITIONAL) ||
           jump_is_taken(ctx, (cookie >> WIRE_COOKIE_CONDITION_SHIFT) & 15);
}

// Where a probe is by which a call is seen to end that jumps to another function.
enum tail_place {
    TAIL_JUMP,   /* on the jump */
    TAIL_CALLER, /* where the caller goes on */
    TAIL_CALLEE, /* at an end of what is jumped to */
};

// Whether the call at `sp` ends at this probe: not at a jump when its end will be seen elsewhere.
__noinline int ends_at_tail(struct open_calls* calls, u64 cookie, u64 sp, u32 place) {
    u32 depth, spec = spec_index(cookie), generation = generation_of(cookie);

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        struct open_call* call = &calls->calls[i];

        if (i >= depth)
            break;
        if (call->sp != sp || call->spec != spec || call->generation != generation)
            continue;
        // What it has jumped to may have been left by an exception, and be called by others since.
        if (place != TAIL_JUMP)
            return (call->state & CALL_HAS_JUMPED) &&
                   (place == TAIL_CALLER || has_returned(call, calls->stack_base));
        if (!(call->state & (CALL_ENDS_IN_CALLER | CALL_ENDS_IN_CALLEE)))
            return 1;
        call->state |= CALL_HAS_JUMPED;
        return 0;
    }
    return place == TAIL_JUMP; // nothing is lost: there is no such call
}

static __always_inline void count_exit_hit(struct wire_call_counters* counters, u64 cookie) {
    __sync_fetch_and_add(&counters->exit_hits, 1);
    if (cookie & WIRE_COOKIE_STEPPED)
        __sync_fetch_and_add(&counters->stepped_exit_hits, 1);
}

static __always_inline int leave(struct pt_regs* ctx, u64 cookie, u64 sp, bool in_caller) {
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct wire_call_counters* counters;
    struct open_calls* calls;

    if (!spec)
        return 0;
    counters = counters_of(spec_index(cookie));
    if (!counters)
        return 0;
    count_exit_hit(counters, cookie);
    calls = thread_storage(&open_calls, bpf_get_current_task_btf(), 0);
    if (!calls)
        return 0;
    if (!is_leaving(ctx, cookie)) {
        charge(calls, config.passed_jump_ns);
        return 0;
    }
    // Where its calls end in what it jumps to, it has no other exits.
    if (((cookie & WIRE_COOKIE_TAIL) || (spec->flags & WIRE_SPEC_TAIL_ENDS)) &&
        !ends_at_tail(calls, cookie, sp,
                      in_caller                   ? TAIL_CALLER
                      : cookie & WIRE_COOKIE_TAIL ? TAIL_JUMP
                                                  : TAIL_CALLEE))
        return 0;
    settle_return(calls);
    return leave_call(ctx, calls, spec, cookie, sp, in_caller, counters, false, bpf_ktime_get_ns());
}

// A goroutine that has no open calls any more. A function of its own: where it is called, the stack
// is full on Linux 6.1.
__noinline int forget_goroutine(struct open_calls* calls) {
    struct goroutine_key key = {.tgid = bpf_get_current_pid_tgid() >> 32};

    if (!calls)
        return 0;
    key.g = calls->g;
    bpf_map_delete_elem(&goroutine_calls, &key);
    return 0;
}

// A function of its own, which is over before the stack is needed: see forget_goroutine().
__noinline int count_exit_hit_in_go(u64 cookie) {
    struct wire_call_counters* counters = counters_of(spec_index(cookie));

    if (counters)
        count_exit_hit(counters, cookie);
    return 0;
}

static __always_inline int leave_in_go(struct pt_regs* ctx, u64 cookie, bool at_call_site) {
    struct wire_spec* spec = spec_of_cookie(cookie);
    struct open_calls* calls = NULL;
    u64 sp = 0;

    if (!spec)
        return 0;
    count_exit_hit_in_go(cookie);
    {
        u32 index = spec_index(cookie);
        const struct wire_go_runtime* runtime = bpf_map_lookup_elem(&go_runtimes, &index);
        struct goroutine owner;
        /* Whose call it is takes longer to find out than it does elsewhere. */
        u64 begun = is_leaving(ctx, cookie) ? 0 : bpf_ktime_get_ns();

        if (!runtime || !find_stack_owner(runtime, exit_stack_pointer(ctx, cookie), &owner))
            return 0;
        calls = bpf_map_lookup_elem(&goroutine_calls, &owner.key);
        if (!calls)
            return 0;
        if (begun) {
            charge(calls,
                   config.passed_jump_ns + without_interruptions(bpf_ktime_get_ns() - begun));
            return 0;
        }
        calls->stack_base = owner.stack_end;
        sp = owner.sp;
    }
    leave_call(ctx, calls, spec, cookie, call_stack_pointer(sp, at_call_site), at_call_site, NULL,
               true, bpf_ktime_get_ns());
    if (!calls->depth)
        forget_goroutine(calls);
    return 0;
}

#endif
