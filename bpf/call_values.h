/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Values of calls: arguments, results and what they point to, fetched when a call begins and when
 * it returns, and the predicates on them. Only specs with a program pay for it.
 */
#ifndef AUGER_CALL_VALUES_H
#define AUGER_CALL_VALUES_H

#include "go_labels.h"
#include "maps.h"
#include "thread_storage.h"

/* The registers that values begin with: DWARF's numbers, and some more. */
enum {
    REGISTER_CFA = 17,
    REGISTER_THREAD = 18,
    REGISTER_RECORD = 19,
    REGISTER_CONTEXT = 20, /* what the thread works for: four words, see thread_context.h ... */
    REGISTER_CONTEXT_AGAIN = 24, /* ... read a second time */
    REGISTER_CONTEXT_STATE = 28,
    REGISTER_TASK = 29,
    REGISTER_TASK_KNOWN = 30, /* 1: REGISTER_TASK has it */
    REGISTER_SPAN_ID = 31,    /* of what the thread works for; 0: it works for nothing */
    REGISTERS = 32,
};

/* Of the probe that runs just now. */
struct probe_registers {
    u64 value[REGISTERS];
    struct go_label_search label; /* that was looked for last */
};

/* Of one open call. */
struct call_values {
    u32 sequence;
    u16 spec;
    u16 padding;
    struct wire_values values;
};

struct thread_values {
    struct probe_registers registers;
    /* By open_call.value_slot: a slot is a call's until this ends; a goroutine's while its entry
     * runs (goroutine_state.values). */
    struct call_values calls[WIRE_MAX_OPEN_CALLS];
    /* RETURN_VALUE_SLOT: of the call that returns just now, whose values are all read then
     * (wire_call_program.at_return), or of which those of its beginning were kept elsewhere. */
    struct call_values returning;
};

/* Of a tracepoint that is hit. */
struct record_values {
    struct probe_registers registers;
    struct call_values own;
};

/* Written and read by the tracker alone, for threads with such calls. A failed creation leaves
 * the values unread, and is counted as WIRE_LOSS_VALUES. */
struct thread_values_map {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread_values);
};

extern struct thread_values_map thread_values SEC(".maps");

/* What became of a call's predicates. */
enum verdict {
    VERDICT_FILTERED = 1,   /* WIRE_PREDICATE_ONLY does not hold */
    VERDICT_NOT_TRACED = 2, /* WIRE_PREDICATE_SLOW does not hold */
};

/* A call that begins, beside `calls` that are open: reads its values; `cfa` as in WIRE_BASE_CFA.
 * Sets marks. */
int begin_values(struct pt_regs* ctx, struct open_calls* calls, struct open_call* call, u64 cfa);

/* Whether every returned call must be judged, or only those of which something is told. */
int is_judged_at_end(const struct open_call* call);

/* calls->ending returns: reads the rest. Sets marks and, in calls->end, the label. */
int end_values(struct pt_regs* ctx, struct open_calls* calls);

/* What the key of a span's point is. */
enum key_state {
    KEY_UNREADABLE = 0,
    KEY_KNOWN = 1,
    /* The thread runs no task, or works for nothing. All that do have that in common, so it is no
     * key: nothing happens to spans there. */
    KEY_OF_NONE = 2,
};

/* A point of a span, behind begin_values(): its key, of a string a hash. Returns a key_state. */
int read_key(const struct open_call* call, u64* key);

/* A span ends on the thread, which may have calls open: what the thread works for, if the span's
 * spec has a program, is its values then (values_of()). 0: there are none. */
int note_span_values(const struct open_calls* calls, struct open_call* span);

/* A tracepoint is hit, whose record is in REGISTER_RECORD: as begin_values() and read_key(). */
int read_record(struct record_values* record, struct open_call* call);
int read_record_key(const struct record_values* record, const struct open_call* call, u64* key);

static __always_inline struct wire_values* find_values(struct thread_values* thread,
                                                       const struct open_call* call) {
    struct call_values* own;

    if (call->value_slot == RETURN_VALUE_SLOT)
        own = &thread->returning;
    else if (call->value_slot < WIRE_MAX_OPEN_CALLS)
        own = &thread->calls[call->value_slot & (WIRE_MAX_OPEN_CALLS - 1)];
    else
        return NULL;
    return own->sequence == call->sequence && own->spec == call->spec ? &own->values : NULL;
}

/* Of a call that has just ended; NULL when there are none. */
static __always_inline struct wire_values* values_of(const struct open_call* call) {
    struct thread_values* thread = thread_storage(&thread_values, bpf_get_current_task_btf(), 0);

    return thread ? find_values(thread, call) : NULL;
}

#endif
