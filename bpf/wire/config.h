/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* What user space sets while programs run. */
#ifndef AUGER_WIRE_CONFIG_H
#define AUGER_WIRE_CONFIG_H

#include "gates.h"
#include "go_labels.h"

/* Which processes of a name are targets. */
struct wire_target_condition {
    __wire_u64 cgroup; /* id of the group that they are in, or below which; 0: any */
    __wire_u32 user;   /* real user id, or WIRE_ANY_USER */
    __wire_u32 unused;
};

/* Live values, written by user space whenever they change, read by every program. */
enum wire_filter {
    WIRE_FILTER_PID = 1,
    WIRE_FILTER_TID = 2,
    WIRE_FILTER_COMM = 4,
    WIRE_FILTER_CGROUP = 8,
    WIRE_FILTER_GENERATION_SHIFT = 32,
};

/* Whose costs are being measured, on threads of auger's own: these are observed as a target's are,
 * but neither sent nor counted. */
enum wire_calibration {
    WIRE_CALIBRATE_SAMPLES = 1,
    WIRE_CALIBRATE_WAITS = 2,
    WIRE_CALIBRATE_CALLS = 4,
};

struct wire_config {
    /*
     * wire_filter bits: which filters apply (all of them must match); from
     * WIRE_FILTER_GENERATION_SHIFT on the generation: filter entries with a lower one do not count.
     * One word, so that an edit is one store and no event meets half of it.
     */
    __wire_u64 filter;
    __wire_u64 sample_weight_ns; /* weight of a sample; 0: the event's own period, in ns */
    __wire_u64
        slow_interval_ns; /* between WIRE_SLOW_CALL events of one CPU, on average; 0: no limit */
    __wire_u64 wall_period_ns; /* between the ticks of the clock by which waits are sampled */
    /* Stacks of waits are only taken where a tick is this near, counted in mean waits of the
     * thread; 0: of all. */
    __wire_u32 wait_stacks_within;
    /* What a run of the programs at context switches and at wake-ups costs beside what they measure
     * of themselves: the way into them, and what they do after that. 0: not calibrated. */
    __wire_u32 switch_entry_ns;
    __wire_u32 waking_entry_ns;
    /* Another number whenever sampling of waits begins, 0 while it is off: a wait or call that
     * began under another one was not watched from its beginning. */
    __wire_u32 wall_epoch;
    __wire_u32 all_processes; /* 1: every process is a target */
    __wire_u32 calibrating;   /* wire_calibration bits, while that lasts */
    /*
     * Another number after every edit of target or filter: a thread that was found to be observed
     * is so until this changes. 0: it may cease to be at any time (a filter by name or cgroup).
     */
    __wire_u32 scope;
    __wire_u32 gate[WIRE_GATE_USES]; /* which of each use's two is in force, from 1; 0: neither */
    /* Of the ticks for which WIRE_GATE_RAISED does not hold every how manieth is a sample, with so
     * much more weight: 1 all, 0 none. */
    __wire_u32 base_every;
    /* What a hit of a conditional jump costs a thread that goes on behind it, where it would have
     * ended a call: in no duration. 0: not calibrated. */
    __wire_u32 passed_jump_ns;
    __wire_u32 with_wakers; /* 1: samples of blocked threads say who woke them */
    /*
     * Of explained calls every how manieth is told, at random; 0: nothing is explained. Those
     * longer than explained_slow_ns are all told.
     */
    __wire_u32 explained_every;
    __wire_u32 explained_set; /* another number whenever a wire_spec.part changes */
    __wire_u64 explained_slow_ns;
    /* As wall_epoch: whether it is watched when goroutines leave threads and come back. */
    __wire_u32 go_epoch;
    __wire_u32 with_tasks;     /* 1: stacks of CPython's say which task runs: see wire/python.h */
    __wire_u32 reads_contexts; /* 1: there are wire_thread_places, which children inherit */
    __wire_u32 with_exchanges; /* 1: there are spans that are exchanges */
    __wire_u32 with_waiting_tasks; /* 1: there have been elements of waiting_tasks */
    /* Which of the keys stacks of Go's goroutines tell the label of, from 1; 0: of none. */
    __wire_u32 go_label;
    struct wire_go_label_key go_label_key[2]; /* one in force, so that an edit is one store */
};

#endif
