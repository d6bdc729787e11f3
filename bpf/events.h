/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Writing to the event ring. */
#ifndef AUGER_EVENTS_H
#define AUGER_EVENTS_H

#include "maps.h"

/*
 * User space empties the ring on a timer of its own. Waking it costs the thread that does it some
 * microseconds, so only a ring that is filling up does.
 */
static __always_inline u64 wakeup_flags(void) {
    u64 used = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);

    return used > (4 << 20) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void fill_event(struct wire_event* event, u32 kind, u32 size) {
    u64 id = bpf_get_current_pid_tgid();

    event->kind = kind;
    event->size = size;
    event->time_ns = bpf_ktime_get_ns();
    event->pid = id >> 32;
    event->tid = (u32)id;
}

#endif
