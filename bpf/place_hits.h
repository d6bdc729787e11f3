// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// A place that is counted is reached, and traced: told as a slow call that takes no time. Of the
// call tracker alone.
#ifndef AUGER_PLACE_HITS_H
#define AUGER_PLACE_HITS_H

#include "call_ends.h"
#include "call_owners.h"
#include "call_values.h"
#include "slow_tracer.h"

// Makes calls->ending the hit, and calls->end what is told of it. `around` as in trace_slow_call().
static __always_inline void fill_hit(struct open_calls* calls, const struct open_calls* around,
                                     u64 cookie, u64 now) {
    struct open_call* call = &calls->ending;

    calls->own_ns_at_end = *(volatile u64*)&around->own_ns;
    calls->threshold_ns = 0;
    call->start_ns = now;
    call->sequence = next_sequence(calls, calls != around);
    call->spec = spec_index(cookie);
    call->generation = generation_of(cookie);
    call->samples = call->waits = call->marks = call->end_asked = 0;
    call->wall_epoch = 0;
    call->blocked_ns = calls->blocked_ns;
    call->runnable_ns = calls->runnable_ns;
    call->own_ns = calls->own_ns_at_end;
    call->longest_wait.blocked_ns = 0;
    fill_end(&calls->end, calls, call, now);
    calls->end.duration_ns = 0;
    calls->end.flags |= WIRE_CALL_SLOW;
}

// Behind begin_values(), where its spec has a program.
__noinline int trace_hit(struct pt_regs* ctx, struct open_calls* calls, u64 cookie,
                         bool has_values) {
    u64 now = bpf_ktime_get_ns();
    struct wire_values* values = NULL;

    if (!calls)
        return 0;
    if (has_values) {
        if (end_values(ctx, calls) & VERDICT_NOT_TRACED)
            return 0;
        values = values_of(&calls->ending);
    }
    fill_hit(calls, calls, cookie, now);
    count_tracing(spec_index(cookie), trace_slow_call(calls, calls, values, false, false));
    return 0;
}

#endif
