// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Runs a spec's wire_call_program: fetches values and evaluates predicates. Functions of their own,
// verified once each.
#include "call_values.h"
#include "goroutine.h"
#include "polled_tasks.h"
#include "value_comparisons.h"
#include "value_fetching.h"
#include "value_keys.h"

#include ARCH(registers.h)

#include "python_task.h"

struct thread_values_map thread_values SEC(".maps");

/* Written by user space, an element before a spec refers to it (wire_spec.program), so that a call
 * meets one version or another; read by the tracker. Full: user space gets an error for its edit.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_MAX_PROGRAMS);
    __type(key, u32);
    __type(value, struct wire_call_program);
} call_programs SEC(".maps");

static __always_inline struct wire_call_program* program_of(const struct open_call* call) {
    u32 index = call->spec;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);
    u32 program = spec ? *(volatile u32*)&spec->program - 1 : 0;

    return spec ? bpf_map_lookup_elem(&call_programs, &program) : NULL;
}

static __always_inline void note_registers(struct thread_values* thread, struct pt_regs* ctx,
                                           u64 cfa) {
    u64* registers = thread->registers.value;

    note_dwarf_registers(registers, ctx);
    registers[REGISTER_CFA] = cfa;
    registers[REGISTER_THREAD] = bpf_get_current_task_btf()->THREAD_POINTER;
}

// What the thread runs: a task of tokio's, a virtual thread, or a task of an event loop of
// CPython's. False: that cannot be told.
static __always_inline bool find_task(u64* task) {
    struct python_task python = {};
    bool is_known;

    if (find_polled_task(task))
        return true;
    is_known = find_python_task(&python);
    *task = python.coroutine;
    return is_known;
}

// It is looked for where somebody asks, once a call.
static __always_inline void note_task(struct thread_values* thread,
                                      const struct wire_call_program* program) {
    u64* registers = thread->registers.value;
    u64 task = 0;

    registers[REGISTER_TASK_KNOWN] = program->with_task && find_task(&task);
    registers[REGISTER_TASK] = task;
}

// The predicates that can be decided now; the others are as if they held.
static __always_inline u32 judge(const struct wire_call_program* program,
                                 const struct wire_values* values, struct open_call* call,
                                 bool at_end) {
    const struct wire_predicate* only = &program->predicate[WIRE_PREDICATE_ONLY];
    const struct wire_predicate* slow = &program->predicate[WIRE_PREDICATE_SLOW];
    const struct wire_predicate* split = &program->predicate[WIRE_PREDICATE_SPLIT];
    u32 holding, verdict = 0;

    if (!program->comparisons)
        return 0;
    holding = comparisons_that_hold(program, values);
    if (only->clauses && only->at_end == at_end && !predicate_holds(only, holding))
        verdict |= VERDICT_FILTERED;
    if (slow->clauses && at_end && !predicate_holds(slow, holding))
        verdict |= VERDICT_NOT_TRACED;
    if (split->clauses && split->at_end == at_end && predicate_holds(split, holding))
        call->marks |= 1u << (program->split_mark & (WIRE_MAX_MARKS - 1));
    return verdict;
}

// Nothing is known of a call that has no memory for its values, or began under another program:
// a predicate does not hold then.
static __always_inline u32 judge_unknown(const struct wire_call_program* program) {
    u32 verdict = 0;

    if (program->predicate[WIRE_PREDICATE_ONLY].clauses)
        verdict |= VERDICT_FILTERED;
    if (program->predicate[WIRE_PREDICATE_SLOW].clauses)
        verdict |= VERDICT_NOT_TRACED;
    return verdict;
}

__noinline int is_judged_at_end(const struct open_call* call) {
    struct wire_call_program* program = call ? program_of(call) : NULL;

    return program && program->judges_end;
}

// The first slot that none of the open calls has. There is one: they are fewer than slots, or the
// call would have been dropped.
__noinline u32 find_slot(const struct open_calls* calls) {
    u32 depth, used = 0, slot = 0;

    if (!calls)
        return 0;
    depth = calls->depth;
    for (u32 i = 0; i < WIRE_MAX_OPEN_CALLS; i++) {
        u32 taken;

        if (i >= depth)
            break;
        taken = calls->calls[i].value_slot;
        if (taken < WIRE_MAX_OPEN_CALLS)
            used |= 1u << taken;
    }
    for (u32 bits = WIRE_MAX_OPEN_CALLS / 2; bits; bits /= 2) {
        u32 all = (1u << bits) - 1;

        if ((used & all) == all) {
            used >>= bits;
            slot += bits;
        }
    }
    return slot & (WIRE_MAX_OPEN_CALLS - 1);
}

// Of a goroutine's call, which may end on another thread: in the state that goes with its calls.
__noinline int keep_for_goroutine(const struct open_calls* calls, struct open_call* call,
                                  const struct call_values* values) {
    struct goroutine_state* state;

    if (!calls || !call || !values)
        return 0;
    state = state_of(calls);
    if (!state || call->value_slot >= GOROUTINE_VALUES) {
        call->value_slot = NO_VALUE_SLOT;
        count_loss(WIRE_LOSS_GOROUTINE_VALUES);
        return 0;
    }
    state->values[call->value_slot & (GOROUTINE_VALUES - 1)] = *values;
    return 0;
}

__noinline int begin_values(struct pt_regs* ctx, struct open_calls* calls, struct open_call* call,
                            u64 cfa) {
    struct wire_call_program* program;
    struct thread_values* thread;
    struct call_values* slot;
    struct wire_values* own;

    if (!calls || !call)
        return 0;
    program = program_of(call);
    if (!program || program->at_return)
        return 0;
    thread =
        thread_storage(&thread_values, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
        count_loss(WIRE_LOSS_VALUES);
        return judge_unknown(program) & VERDICT_FILTERED;
    }
    call->value_slot = find_slot(calls);
    slot = &thread->calls[call->value_slot & (WIRE_MAX_OPEN_CALLS - 1)];
    slot->sequence = call->sequence;
    slot->spec = call->spec;
    own = &slot->values;
    own->version = program->version;
    own->readable = 0;
    note_registers(thread, ctx, cfa);
    note_task(thread, program);
    if (program->reads_context)
        note_context(&thread->registers);
    fetch_values(&thread->registers, program, own, false);
    if (calls->g)
        keep_for_goroutine(calls, call, slot);
    return judge(program, own, call, false);
}

// In a slot that no open call has.
__noinline int note_span_values(const struct open_calls* calls, struct open_call* span) {
    struct wire_call_program* program;
    struct thread_values* thread;
    struct call_values* slot;

    if (!calls || !span)
        return 0;
    span->value_slot = NO_VALUE_SLOT;
    program = program_of(span);
    if (!program || !program->reads_context)
        return 0;
    thread =
        thread_storage(&thread_values, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
        count_loss(WIRE_LOSS_VALUES);
        return 0;
    }
    span->value_slot = find_slot(calls);
    slot = &thread->calls[span->value_slot & (WIRE_MAX_OPEN_CALLS - 1)];
    slot->sequence = span->sequence;
    slot->spec = span->spec;
    slot->values.version = program->version;
    slot->values.readable = 0;
    note_context(&thread->registers);
    fetch_values(&thread->registers, program, &slot->values, false);
    return 1;
}

static __always_inline void note_label(const struct wire_call_program* program,
                                       const struct wire_values* values,
                                       struct wire_call_end* end) {
    u32 index = program->label & (WIRE_MAX_VALUES - 1);

    if (program->label == WIRE_NO_LABEL)
        return;
    if (!(values->readable >> index & 1)) {
        end->label = WIRE_LABEL_UNREADABLE;
        return;
    }
    end->label =
        program->fetch[index].flags & WIRE_FETCH_STRING ? WIRE_LABEL_STRING : WIRE_LABEL_NUMBER;
    end->label_value = end->label == WIRE_LABEL_STRING
                           ? program->fetch[index].string & (WIRE_MAX_STRINGS - 1)
                           : values->value[index];
}

// Of a call that returns, whose values are all read now. NULL: there is no memory for them.
static __always_inline struct thread_values*
begin_returning(const struct wire_call_program* program, struct open_call* call) {
    struct thread_values* thread =
        thread_storage(&thread_values, bpf_get_current_task_btf(), BPF_LOCAL_STORAGE_GET_F_CREATE);

    if (!thread) {
        count_loss(WIRE_LOSS_VALUES);
        return NULL;
    }
    call->value_slot = RETURN_VALUE_SLOT;
    thread->returning.sequence = call->sequence;
    thread->returning.spec = call->spec;
    thread->returning.values.version = program->version;
    thread->returning.values.readable = 0;
    return thread;
}

// ... and a goroutine's, of which those of its beginning were kept.
static __always_inline struct thread_values*
take_from_goroutine(const struct wire_call_program* program, const struct open_calls* calls,
                    struct open_call* call) {
    u32 slot = call->value_slot;
    struct goroutine_state* state = slot < GOROUTINE_VALUES ? state_of(calls) : NULL;
    struct thread_values* thread = state ? begin_returning(program, call) : NULL;
    const struct call_values* kept;

    if (!thread)
        return NULL;
    kept = &state->values[slot & (GOROUTINE_VALUES - 1)];
    if (kept->sequence == call->sequence && kept->spec == call->spec)
        thread->returning.values = kept->values;
    else
        thread->returning.values.version = 0;
    return thread;
}

__noinline int end_values(struct pt_regs* ctx, struct open_calls* calls) {
    struct wire_call_program* program;
    struct thread_values* thread;
    struct wire_values* own;
    struct wire_call_end* end;
    struct open_call* call;

    if (!calls)
        return 0;
    call = &calls->ending;
    end = &calls->end;
    end->label = WIRE_LABEL_NONE;
    program = program_of(call);
    if (!program)
        return 0;
    thread = program->at_return ? begin_returning(program, call)
             : calls->g         ? take_from_goroutine(program, calls, call)
                                : thread_storage(&thread_values, bpf_get_current_task_btf(), 0);
    own = thread ? find_values(thread, call) : NULL;
    if (!own || own->version != program->version)
        return judge_unknown(program);
    note_registers(thread, ctx, 0);
    fetch_values(&thread->registers, program, own, true);
    note_label(program, own, end);
    return judge(program, own, call, true);
}

__noinline int read_key(const struct open_call* call, u64* key) {
    if (!call || !key)
        return KEY_UNREADABLE;
    return key_among(program_of(call), values_of(call), key);
}

__noinline int read_record(struct record_values* record, struct open_call* call) {
    struct wire_call_program* program;
    struct wire_values* own;

    if (!record || !call)
        return 0;
    program = program_of(call);
    if (!program)
        return 0;
    own = &record->own.values;
    own->version = program->version;
    own->readable = 0;
    fetch_values(&record->registers, program, own, false);
    // It is over at once.
    return judge(program, own, call, false) | judge(program, own, call, true);
}

__noinline int read_record_key(const struct record_values* record, const struct open_call* call,
                               u64* key) {
    if (!record || !call || !key)
        return KEY_UNREADABLE;
    return key_among(program_of(call), &record->own.values, key);
}
