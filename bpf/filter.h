/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Whether the current thread is observed: in the target, and passed by every filter in force. */
#ifndef AUGER_FILTER_H
#define AUGER_FILTER_H

#include "maps.h"

/* A later generation is the filter that is being entered: until it is in force, both pass. */
static __always_inline bool passes_id(void* map, u64 id, u32 in_force) {
    u32* generation = bpf_map_lookup_elem(map, &id);

    return generation && *generation >= in_force;
}

/* Out of line: filters are seldom in force, and the tracker's hot path should stay short. */
static __noinline bool passes_filters(u32 pid, u32 tid, u64 filter) {
    u32 in_force = filter >> WIRE_FILTER_GENERATION_SHIFT;

    if ((filter & WIRE_FILTER_PID) && !passes_id(&filter_pids, pid, in_force))
        return false;
    if ((filter & WIRE_FILTER_TID) && !passes_id(&filter_tids, tid, in_force))
        return false;
    if ((filter & WIRE_FILTER_CGROUP) &&
        !passes_id(&filter_cgroups, bpf_get_current_cgroup_id(), in_force))
        return false;
    if (filter & WIRE_FILTER_COMM) {
        char comm[WIRE_COMM] = {};
        u32* generation;

        bpf_get_current_comm(comm, sizeof(comm));
        generation = bpf_map_lookup_elem(&filter_comms, comm);
        if (!generation || *generation < in_force)
            return false;
    }
    return true;
}

static __always_inline bool is_target(u32 pid) {
    if (config.all_processes)
        return pid != own_pid;
    return bpf_map_lookup_elem(&targets, &pid) != NULL;
}

static __always_inline bool is_observed(u32 pid, u32 tid) {
    /* Read once: it may change at any time. */
    u64 filter = *(volatile u64*)&config.filter;

    return is_target(pid) && (!(u32)filter || passes_filters(pid, tid, filter));
}

/* A thread of auger's own, on which the costs of these events are being measured. */
static __always_inline bool is_calibrating(u32 pid, enum wire_calibration events) {
    return pid == own_pid && (config.calibrating & events);
}

#endif
