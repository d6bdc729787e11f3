// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The slow-call tracer: a call beyond its spec's threshold becomes an event of its own, with its
// stack. A token bucket per CPU keeps a threshold that was set too low from flooding the ring.
#include "slow_tracer.h"
#include "events.h"
#include "maps.h"
#include "stack.h"

/* One element: the time up to which a CPU's allowance of slow-call events is used up. Written and
 * read by the slow-call tracer alone. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} slow_budget SEC(".maps");

/* Generic cell rate algorithm: `used_until` runs ahead of the clock by at most a burst. */
static __always_inline bool within_slow_rate(u64 now) {
    u64 interval = config.slow_interval_ns;
    u64 burst = interval * WIRE_SLOW_BURST;
    u32 zero = 0;
    u64* used_until = bpf_map_lookup_elem(&slow_budget, &zero);

    if (!used_until)
        return false;
    if (*used_until < now)
        *used_until = now;
    if (*used_until - now > burst)
        return false;
    *used_until += interval;
    return true;
}

__noinline int trace_slow_call(struct pt_regs* ctx, struct wire_call_end* end,
                               struct wire_wait* longest_wait, u64 return_address,
                               bool from_return) {
    struct wire_slow_call* slow;

    if (!end || !longest_wait)
        return 0;
    if (!within_slow_rate(end->event.time_ns)) {
        count_loss(WIRE_LOSS_SLOW_RATE);
        return 0;
    }
    slow = bpf_ringbuf_reserve(&events, sizeof(*slow), 0);
    if (!slow) {
        count_loss(WIRE_LOSS_RING_SLOW);
        return 0;
    }
    slow->end = *end;
    slow->end.event.kind = WIRE_SLOW_CALL;
    slow->end.event.size = sizeof(*slow);
    bpf_get_current_comm(slow->comm, sizeof(slow->comm));
    slow->longest_wait = *longest_wait;
    slow->return_address = return_address;
    slow->from_return = from_return;
    slow->user_frames = take_user_stack(ctx, slow->frames);
    slow->kernel_frames = 0;
    bpf_ringbuf_submit(slow, wakeup_flags());
    return 0;
}
