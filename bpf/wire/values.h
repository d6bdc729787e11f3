/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Values of calls: what is read of them, and what is asked. */
#ifndef AUGER_WIRE_VALUES_H
#define AUGER_WIRE_VALUES_H

#include "go_labels.h"
#include "types.h"

/*
 * What is read of a call, compiled by user space from `arg0`, `req->len`, `str(path)`, `ret`, and
 * what is computed of that: `items[i]`, `arg1 - arg0`. A value begins with a base; then each offset
 * but the last is added and 8 bytes are read there; the last one is added, and what lies there is
 * the value (with `in_memory`), or the sum itself.
 */
enum wire_base {
    WIRE_BASE_REGISTER = 0, /* `number` as DWARF counts */
    WIRE_BASE_CFA = 1,      /* canonical frame address: the stack pointer before the call */
    WIRE_BASE_THREAD = 2,   /* the thread's control block, of the variable errno */
    WIRE_BASE_CONSTANT = 3, /* `constant` */
    /* Value `number` of the call, combined by `operation` with value `operand` times `constant`, or
     * with `constant` alone (WIRE_NO_VALUE). Both have lower indices than this one; when one of
     * them could not be read, neither can this. */
    WIRE_BASE_COMPUTED = 4,
    /* A tracepoint's record, which lies in the kernel's memory; what pointers in it lead to is read
     * in the process's. */
    WIRE_BASE_RECORD = 5,
    /* What lies in the record where its 4 bytes at `constant` say (__data_loc). */
    WIRE_BASE_DATA_LOC = 6,
    /* The coroutine of the task that the thread runs (bpf/python_task.h); 0: it runs none. */
    WIRE_BASE_TASK = 7,
    /* What the thread works for, as its program says: part `number`, a wire_context_part. */
    WIRE_BASE_CONTEXT = 8,
    /* A string: the label of the goroutine that the thread works for whose key stands in `key`, of
     * `size` bytes; empty: it has none. */
    WIRE_BASE_GO_LABEL = 9,
};

/* Of a thread's context (wire_thread_place). */
enum wire_context_part {
    WIRE_CONTEXT_TRACE = 0, /* a string: 32 digits, or empty: it works for none */
    WIRE_CONTEXT_SPAN = 1,  /* a number; 0: it works for none */
    WIRE_CONTEXT_PARTS,
};

/* In 64 bits, which wrap; of the number of bits to shift by the low six. Quotients are rounded
 * towards zero, and what is left has the sign of what was divided, as in C; what is divided by zero
 * cannot be read. */
enum wire_operation {
    WIRE_ADD = 0,
    WIRE_SUBTRACT = 1,
    WIRE_MULTIPLY = 2,
    WIRE_AND = 3,
    WIRE_OR = 4,
    WIRE_SHIFT_LEFT = 5,
    WIRE_SHIFT_RIGHT = 6,
    WIRE_SHIFT_RIGHT_SIGNED = 7,
    WIRE_DIVIDE = 8, /* this and what follows: division */
    WIRE_DIVIDE_SIGNED = 9,
    WIRE_MODULO = 10,
    WIRE_MODULO_SIGNED = 11,
};

enum { WIRE_NO_VALUE = 0xff };

enum wire_fetch_flag {
    WIRE_FETCH_IN_MEMORY = 1,
    WIRE_FETCH_SIGNED = 2,
    WIRE_FETCH_STRING = 4, /* what the value points to, up to its NUL, into a slot of strings */
    WIRE_FETCH_AT_END = 8, /* when the call returns; else when it begins */
    WIRE_FETCH_COUNTED =
        16, /* of a string: as many bytes as another value says, and no NUL ends it */
};

struct wire_fetch {
    __wire_u8 base;
    __wire_u8 number;
    __wire_u8 offsets; /* 1 to WIRE_MAX_OFFSETS */
    __wire_u8 flags;
    __wire_u8 size;      /* bytes: 1, 2, 4 or 8, of a register the low ones; of a string how many
                            it has at most, NUL included; of a label how many its key has */
    __wire_u8 bit_shift; /* of a bit-field, in the `size` bytes */
    __wire_u8 bit_size;  /* 0: no bit-field */
    __wire_u8 string;    /* slot, of a string */
    union {
        __wire_s32 offset[WIRE_MAX_OFFSETS];
        char key[WIRE_GO_LABEL_KEY]; /* of WIRE_BASE_GO_LABEL, padded with NULs */
    };
    __wire_u8 operation; /* this and what follows: of WIRE_BASE_COMPUTED */
    __wire_u8 operand;
    __wire_u8 length; /* of WIRE_FETCH_COUNTED: index of the value that says how long it is */
    __wire_u8 padding[5];
    __wire_u64 constant;
};

enum wire_comparison_operation {
    WIRE_EQUAL = 0,
    WIRE_UNEQUAL = 1,
    WIRE_LESS = 2,
    WIRE_LESS_EQUAL = 3,
    WIRE_GREATER = 4,
    WIRE_GREATER_EQUAL = 5,
    WIRE_BITS_SET = 6,   /* value & constant is not 0 */
    WIRE_BITS_CLEAR = 7, /* ... is 0 */
};

enum wire_comparison_flag {
    WIRE_COMPARE_SIGNED = 1,
    WIRE_COMPARE_VALUES = 2, /* with another value, whose index is `constant` */
    WIRE_COMPARE_STRING = 4, /* with the constant string of this index: (un)equal only */
};

/* One with a value that could not be read does not hold, and neither does its opposite. */
struct wire_comparison {
    __wire_u8 value; /* index */
    __wire_u8 operation;
    __wire_u8 flags;
    __wire_u8 padding[5];
    __wire_u64 constant;
};

/* Holds when one of its clauses does: all of whose comparisons hold. */
struct wire_predicate {
    __wire_u8 clauses; /* 0: there is no predicate */
    __wire_u8 at_end;  /* 1: needs a value that is read at the call's end */
    __wire_u8 padding[2];
    __wire_u32 clause[WIRE_MAX_CLAUSES]; /* bits of comparisons */
};

enum wire_predicate_use {
    WIRE_PREDICATE_ONLY,  /* other calls do not count: `filtered` */
    WIRE_PREDICATE_SLOW,  /* other calls are not traced */
    WIRE_PREDICATE_SPLIT, /* sets a mark */
    WIRE_PREDICATES,
};

enum { WIRE_NO_LABEL = 0xff };

/* The values of a spec's calls, and what is asked of them. */
struct wire_call_program {
    __wire_u32 version; /* another one after every edit: values of another one are not comparable */
    __wire_u8 fetches;
    __wire_u8 comparisons;
    __wire_u8 label;      /* index of the value that a split is by, or WIRE_NO_LABEL */
    __wire_u8 split_mark; /* that WIRE_PREDICATE_SPLIT sets */
    /* 1: every call is judged at its end, since that decides whether it counts or has a mark; 0:
     * only calls of which something is told. */
    __wire_u8 judges_end;
    __wire_u8 with_task;     /* 1: some value is of WIRE_BASE_TASK */
    __wire_u8 reads_context; /* 1: one of the fetches is of WIRE_BASE_CONTEXT */
    /* 1: all values are read when the call returns, and nothing has to be kept of its beginning: it
     * may be a goroutine's, which has gone on on another thread. */
    __wire_u8 at_return;
    __wire_u8 padding[4];
    struct wire_fetch fetch[WIRE_MAX_VALUES];
    struct wire_comparison comparison[WIRE_MAX_COMPARISONS];
    struct wire_predicate predicate[WIRE_PREDICATES];
    char string[WIRE_MAX_STRINGS][WIRE_STRING]; /* constants, padded with NULs */
};

/* Values of one call. */
struct wire_values {
    __wire_u32 version;  /* of wire_call_program; 0: there are none */
    __wire_u32 readable; /* bit i: value i could be read */
    /* Extended to 64 bits; of a string its address, of a trace or label whether there is one; of
     * one that could not be read the address at which that failed, or 0. */
    __wire_u64 value[WIRE_MAX_VALUES];
    char string[WIRE_MAX_STRINGS][WIRE_STRING];
};

WIRE_ASSERT(sizeof(struct wire_fetch) == 48, "wire_fetch");
WIRE_ASSERT(sizeof(struct wire_comparison) == 16, "wire_comparison");

#endif
