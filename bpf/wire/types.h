/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Fixed-width types of both sides, and what everything is bounded by. */
#ifndef AUGER_WIRE_TYPES_H
#define AUGER_WIRE_TYPES_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t __wire_u8;
typedef uint16_t __wire_u16;
typedef uint32_t __wire_u32;
typedef uint64_t __wire_u64;
typedef int16_t __wire_s16;
typedef int32_t __wire_s32;
typedef int64_t __wire_s64;
#else
typedef unsigned char __wire_u8;
typedef unsigned short __wire_u16;
typedef unsigned int __wire_u32;
typedef unsigned long long __wire_u64;
typedef short __wire_s16;
typedef int __wire_s32;
typedef long long __wire_s64;
#endif

#ifdef __cplusplus
#define WIRE_ASSERT(condition, text) static_assert(condition, text)
#else
#define WIRE_ASSERT(condition, text) _Static_assert(condition, text)
#endif

enum wire_limit {
    WIRE_MAX_SPECS = 4096,      /* functions timed at once */
    WIRE_SPECS_PER_BLOCK = 16,  /* specs whose histograms share one inner map */
    WIRE_MAX_OPEN_CALLS = 32,   /* depth of the per-thread stack of open calls */
    WIRE_MAX_FRAMES = 127,      /* frames of one kernel stack, and of a waker's */
    WIRE_MAX_USER_FRAMES = 512, /* native frames of one user stack */
    WIRE_STACK_WORDS = 1024,    /* of a user stack: frames, and why it is cut: unwind_table.h */
    WIRE_SLOW_BURST = 256,      /* slow calls that one CPU may report at once, above its rate */
    WIRE_COMM = 16,             /* bytes of a thread's name, NUL included */
    WIRE_ANY_USER = -1,         /* in place of a uid, none of which it is */
    WIRE_CGROUP_LEVELS = 64,    /* of a process's group, in which a target's is looked for */
    WIRE_MAX_MARKS = 32,        /* yes-or-no facts about a call that are watched at once */
    WIRE_MAX_VALUES = 8,        /* values fetched of one call */
    WIRE_MAX_OFFSETS = 6,       /* of one value: members and pointers followed to it */
    WIRE_MAX_STRINGS = 2,       /* strings among the values of one call, and to compare with */
    WIRE_STRING = 64,           /* bytes of a fetched string, NUL included */
    WIRE_MAX_COMPARISONS = 8,   /* in the predicates of one spec, all together */
    WIRE_MAX_CLAUSES = 8,       /* of one predicate or gate */
    WIRE_MAX_GATE_TERMS = 8,    /* of one gate */
    WIRE_MAX_PROGRAMS = 2048,   /* specs of whose calls something is read or asked */
    WIRE_MAX_CALLEES = 16384,   /* functions that calls through pointers may go to */
    WIRE_MAX_SPANS = 65536,     /* open at once */
    WIRE_ATTACHED_SPANS = 4,    /* that one thread works for at once */
    WIRE_MAX_PARTS = 32,        /* functions that explained calls are made of */
    WIRE_MAX_EXCHANGES = 4,     /* spans that are exchanges */
};

#endif
