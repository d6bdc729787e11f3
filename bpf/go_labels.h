/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The label of a goroutine: pprof.Do() and pprof.SetGoroutineLabels() leave a set of labels at the
 * goroutine, which those that it begins inherit. The goroutine is the one that the thread works
 * for, also while it runs C or the runtime's own code: as Go's own profiles have it. All that is
 * read may be anything: it is the process's.
 */
#ifndef AUGER_GO_LABELS_H
#define AUGER_GO_LABELS_H

#include "kernel_types.h"
#include "unwind_table.h"

enum { GO_LABEL_TEXT = WIRE_GO_LABEL_VALUE * WIRE_GO_LABEL_BYTES };

enum go_label_state {
    GO_LABEL_UNREADABLE = 0,
    GO_LABEL_NONE = 1,
    GO_LABEL_FOUND = 2,
};

/* A search for one, in memory: the BPF stack is short. */
struct go_label_search {
    /* By who searches: of the process; and the key, padded with NULs, with its size. */
    struct wire_go_labels place;
    volatile u32 key_size;
    /* Of the set: where its first key and value are, as strings, and how far the next ones. */
    u64 keys;
    u64 values;
    u64 distance;
    u64 count;
    u64 words[3];                 /* what was read last */
    char seen[WIRE_GO_LABEL_KEY]; /* likewise, a key */
    volatile u32 size;            /* of the label's text */
    u32 unused;
    char text[GO_LABEL_TEXT + WIRE_STRING]; /* the key; from GO_LABEL_TEXT on the label, padded */
};

/* The label of a goroutine, by its descriptor; 0: there is none, and so no label. Returns a
 * go_label_state; search->text has what was found. */
int find_go_label(struct go_label_search* search, u64 g);

struct probe_registers;
struct stack_walk;

/* As value `index` of a call: the label of the goroutine that the current thread works for. */
int fetch_go_label(struct probe_registers* registers, const struct wire_fetch* fetch,
                   struct wire_values* values, u32 index);

/* Behind the outermost frame of a walk that has ended: the label that config.go_label asks for, of
 * the goroutine of walk->parked_g, or else the one that the current thread works for. */
int add_go_label(struct stack_walk* walk);

#endif
