/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Labels of Go's goroutines, as runtime/pprof sets them: where the runtime has them, and how a
 * stack tells of one. */
#ifndef AUGER_WIRE_GO_LABELS_H
#define AUGER_WIRE_GO_LABELS_H

#include "types.h"

/* How a set of labels lies in memory. Sets are never changed: another label is another set. */
enum wire_go_labels_form {
    WIRE_GO_LABELS_NONE = 0, /* the process has none that are understood */
    WIRE_GO_LABELS_MAP = 1,  /* a map of strings, up to Go 1.23 */
    WIRE_GO_LABELS_LIST = 2, /* a slice of pairs of strings, since Go 1.24 */
    WIRE_GO_LABELS_FORMS,
};

/* Of a process. Offsets in bytes; of the goroutine's descriptor (g) and the thread's (m). */
struct wire_go_labels {
    __wire_s32 thread_g; /* from the thread pointer: the g whose stack the thread is on */
    __wire_u16 g_m;      /* in a g: its thread */
    __wire_u16 m_curg; /* in an m: the goroutine that it works for. 0: not known, or none of Go's */
    __wire_u16 g_labels; /* in a g: the address of its set; 0: it has none */
    __wire_u16 form;     /* wire_go_labels_form */
    __wire_u16 g_id; /* in a g: the goroutine's number (goid), which no other has had; 0: not known */
    __wire_u16 unused;
};

enum wire_go_label_limit {
    WIRE_GO_LABEL_KEY = 24,     /* bytes of a key that is asked for */
    WIRE_GO_LABELS_OF_MAP = 8,  /* labels: a map of more is not read */
    WIRE_GO_LABELS_OF_LIST = 32 /* ... likewise a slice */
};

/* Which label stacks tell of: wire_config.go_label. */
struct wire_go_label_key {
    __wire_u32 size; /* bytes */
    __wire_u32 unused;
    char text[WIRE_GO_LABEL_KEY]; /* padded with NULs */
};

/*
 * A label is several pairs of words behind the outermost frame of a stack: WIRE_FRAME_GO_LABEL |
 * number from 1 on, and some bytes of text, the first in the lowest bits. First comes the key, in
 * pairs with numbers up to WIRE_GO_LABEL_VALUE, then the label's value. Pairs that would be empty
 * are left out. In place of the value of a label that could not be read there is one with
 * WIRE_GO_LABEL_UNREADABLE.
 */
enum wire_go_label_pair {
    WIRE_GO_LABEL_BYTES = 7, /* of text, in one pair: none of them may be where first words have
                                their mark */
    WIRE_GO_LABEL_VALUE = (WIRE_GO_LABEL_KEY + WIRE_GO_LABEL_BYTES - 1) / WIRE_GO_LABEL_BYTES,
    WIRE_GO_LABEL_PAIRS =
        WIRE_GO_LABEL_VALUE + (WIRE_STRING - 1 + WIRE_GO_LABEL_BYTES - 1) / WIRE_GO_LABEL_BYTES,
    WIRE_GO_LABEL_UNREADABLE = 0xff,
};

WIRE_ASSERT(sizeof(struct wire_go_labels) == 16, "wire_go_labels");

#endif
