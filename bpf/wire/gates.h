/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Gates: what is kept of samples and slow calls. */
#ifndef AUGER_WIRE_GATES_H
#define AUGER_WIRE_GATES_H

#include "types.h"

/*
 * A gate: which samples and slow calls are kept, decided when they happen. Holds when one of its
 * clauses does. Two gates, each twice: one in force and one that is being written.
 */
enum wire_gate_term_kind {
    WIRE_TERM_CALL = 1, /* in a call that has lasted `value` ns at least; see wire_spec.terms */
    WIRE_TERM_PID = 2,
    WIRE_TERM_TID = 3,
    WIRE_TERM_COMM = 4,
    WIRE_TERM_CGROUP = 5,
};

struct wire_gate_term {
    __wire_u32 kind;
    __wire_u32 padding;
    __wire_u64 value;
    char comm[WIRE_COMM];
};

struct wire_gate_clause {
    __wire_u16 all;  /* terms that must hold */
    __wire_u16 none; /* terms that must not */
};

struct wire_gate {
    __wire_u32 terms;
    __wire_u32 clauses; /* 0: no gate, everything passes */
    struct wire_gate_clause clause[WIRE_MAX_CLAUSES];
    struct wire_gate_term term[WIRE_MAX_GATE_TERMS];
};

enum wire_gate_use {
    WIRE_GATE_ONLY = 0,   /* of all samples and slow calls */
    WIRE_GATE_RAISED = 1, /* of samples beyond the base rate */
    WIRE_GATE_USES,
    WIRE_GATES = 2 * WIRE_GATE_USES,
};

#endif
