// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// How long a goroutine's call was on no thread: what the goroutine's sums are at its end, less what
// they were at its entry. Of the call tracker alone.
#ifndef AUGER_GOROUTINE_WAITS_H
#define AUGER_GOROUTINE_WAITS_H

#include "call_counters.h"
#include "goroutine.h"

// Of its own, like others that a loop calls.
__noinline u32 place_of_call(const struct open_calls* calls, u32 index) {
    return calls ? calls->calls[index & (WIRE_MAX_OPEN_CALLS - 1)].waits_at_entry &
                       (WIRE_MAX_OPEN_CALLS - 1)
                 : 0;
}

// A place at_entry that no open call has. There is one: the calls are fewer than the places while
// one begins.
__noinline u32 find_place_at_entry(const struct open_calls* calls) {
    u32 depth, taken = 0;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (i >= depth)
            break;
        taken |= 1u << place_of_call(calls, i);
    }
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        if (!(taken >> i & 1))
            return i;
    }
    return 0;
}

// A call begins: what the sums are.
__noinline int begin_goroutine_waits(struct open_calls* calls, struct open_call* call) {
    struct goroutine_state* state;
    u32 place;

    if (!calls || !call)
        return 0;
    state = state_of(calls);
    if (!state)
        return 0;
    place = find_place_at_entry(calls) & (WIRE_MAX_OPEN_CALLS - 1);
    call->waits_at_entry = place;
    state->waits.at_entry[place].queued_ns = state->waits.queued_ns;
    for (u32 i = 0; i < WIRE_GO_REASONS; i++)
        state->waits.at_entry[place].parked_ns[i] = state->waits.parked_ns[i];
    return 0;
}

static __always_inline u64 parked_for(const struct goroutine_state* state, u32 place, u32 reason) {
    return state->waits.parked_ns[reason] - state->waits.at_entry[place].parked_ns[reason];
}

// As much of `ns` as there is to take off.
static __always_inline u64 take_off(u64* excess, u64 ns) {
    u64 taken = *excess < ns ? *excess : ns;

    *excess -= taken;
    return taken;
}

// calls->ending has returned: what it waited is left in calls->span_end, and counted.
__noinline int end_goroutine_waits(struct open_calls* calls, u64 duration) {
    struct goroutine_state* state;
    struct wire_go_counts* counts;
    struct open_call* call;
    u64 queued, parked = 0, excess;
    u32 place, index;

    if (!calls)
        return 0;
    call = &calls->ending;
    calls->span_end.is_watched = 0;
    if (!call->wall_epoch || call->wall_epoch != config.go_epoch)
        return 0;
    index = call->spec;
    counts = bpf_map_lookup_elem(&go_counts, &index);
    state = state_of(calls);
    if (!state || !counts)
        return 0;
    place = call->waits_at_entry & (WIRE_MAX_OPEN_CALLS - 1);
    for (u32 i = 0; i < WIRE_GO_REASONS; i++)
        parked += parked_for(state, place, i);
    queued = state->waits.queued_ns - state->waits.at_entry[place].queued_ns;
    // What observing took is in no duration, and was partly while the goroutine waited.
    excess = parked + queued > duration ? parked + queued - duration : 0;
    queued -= take_off(&excess, queued);
    parked = 0;
    for (u32 i = 0; i < WIRE_GO_REASONS; i++) {
        u64 ns = parked_for(state, place, i);

        ns -= take_off(&excess, ns);
        if (ns)
            __sync_fetch_and_add(&counts->parked_ns[i], ns);
        parked += ns;
    }
    calls->span_end.is_watched = 1;
    calls->span_end.parked_ns = parked;
    calls->span_end.queued_ns = queued;
    __sync_fetch_and_add(&counts->attached_ns, duration - parked - queued);
    __sync_fetch_and_add(&counts->queued_ns, queued);
    __sync_fetch_and_add(&counts->blocked_ns, calls->blocked_ns - call->blocked_ns);
    __sync_fetch_and_add(&counts->runnable_ns, calls->runnable_ns - call->runnable_ns);
    return 0;
}

// ... and told.
static __always_inline void tell_goroutine_waits(const struct open_calls* calls,
                                                 struct wire_call_end* end) {
    if (!calls->g || !calls->span_end.is_watched)
        return;
    end->flags |= WIRE_CALL_WATCHED;
    end->parked_ns = calls->span_end.parked_ns;
    end->queued_ns = calls->span_end.queued_ns;
}

#endif
