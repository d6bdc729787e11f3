// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From registers, step by step, to the values that a wire_call_program asks for. Of
// call_values.bpf.c alone.
#ifndef AUGER_VALUE_FETCHING_H
#define AUGER_VALUE_FETCHING_H

#include "call_values.h"
#include "thread_context.h"
#include "value_arithmetic.h"

static __always_inline bool lies_in_record(const struct wire_fetch* fetch) {
    return fetch->base == WIRE_BASE_RECORD || fetch->base == WIRE_BASE_DATA_LOC;
}

static __always_inline u64 register_of(const struct probe_registers* registers,
                                       const struct wire_fetch* fetch) {
    u32 number = fetch->base == WIRE_BASE_CFA       ? REGISTER_CFA
                 : fetch->base == WIRE_BASE_THREAD  ? REGISTER_THREAD
                 : fetch->base == WIRE_BASE_TASK    ? REGISTER_TASK
                 : fetch->base == WIRE_BASE_CONTEXT ? REGISTER_SPAN_ID
                 : lies_in_record(fetch)            ? REGISTER_RECORD
                                                    : fetch->number;

    return registers->value[number & (REGISTERS - 1)];
}

// Of values that were fetched before. One of them that could not be read is left in `value`.
static __always_inline bool compute_base(const struct wire_fetch* fetch,
                                         const struct wire_values* values, u64* value) {
    u32 left = fetch->number & (WIRE_MAX_VALUES - 1);
    u32 right = fetch->operand & (WIRE_MAX_VALUES - 1);
    u64 operand = fetch->constant;

    *value = values->value[left];
    if (!(values->readable >> left & 1))
        return false;
    if (fetch->operand != WIRE_NO_VALUE) {
        operand *= values->value[right];
        if (!(values->readable >> right & 1)) {
            *value = values->value[right];
            return false;
        }
    }
    if (fetch->operation >= WIRE_DIVIDE && !operand) {
        *value = 0; /* no address was tried */
        return false;
    }
    *value = compute(fetch->operation, *value, operand);
    return true;
}

static __always_inline bool find_base(const struct probe_registers* registers,
                                      const struct wire_fetch* fetch,
                                      const struct wire_values* values, u64* value) {
    if (fetch->base == WIRE_BASE_COMPUTED)
        return compute_base(fetch, values, value);
    *value = fetch->base == WIRE_BASE_CONSTANT ? fetch->constant : register_of(registers, fetch);
    if (fetch->base == WIRE_BASE_TASK)
        return registers->value[REGISTER_TASK_KNOWN];
    if (fetch->base == WIRE_BASE_CONTEXT)
        return registers->value[REGISTER_CONTEXT_STATE] != CONTEXT_UNREADABLE;
    if (fetch->base == WIRE_BASE_DATA_LOC) {
        u32 place = 0; /* the lower half: where it is from the record's beginning */

        if (bpf_probe_read_kernel(&place, sizeof(place), (void*)(*value + fetch->constant)))
            return false;
        *value += place & 0xffff;
    }
    return true;
}

// `value`'s low `bits`, as they are or with their sign.
static __always_inline u64 extend(u64 value, u32 bits, bool is_signed) {
    u32 unused = (64 - bits) & 63;

    return is_signed ? (u64)((s64)(value << unused) >> unused) : value << unused >> unused;
}

static __always_inline long read_memory(void* to, u32 size, u64 address, bool in_kernel) {
    return in_kernel ? bpf_probe_read_kernel(to, size, (void*)address)
                     : bpf_probe_read_user(to, size, (void*)address);
}

static __always_inline bool read_number(const struct wire_fetch* fetch, u64 address, u64* value,
                                        bool in_kernel) {
    *value = 0;
    switch (fetch->flags & WIRE_FETCH_STRING ? sizeof(u64) : fetch->size) {
    case 1:
        return !read_memory(value, 1, address, in_kernel);
    case 2:
        return !read_memory(value, 2, address, in_kernel);
    case 4:
        return !read_memory(value, 4, address, in_kernel);
    default:
        return !read_memory(value, 8, address, in_kernel);
    }
}

// A value that cannot be read leaves the address that was tried.
static __always_inline bool find_value(const struct wire_fetch* fetch, u64* value) {
    bool in_kernel = lies_in_record(fetch);

    for (u32 i = 0; i < WIRE_MAX_OFFSETS; i++) {
        u64 address;

        *value += fetch->offset[i];
        if (i + 1 >= fetch->offsets)
            break;
        address = *value;
        if (read_memory(value, sizeof(*value), address, in_kernel)) {
            *value = address;
            return false;
        }
        in_kernel = false;
    }
    return true;
}

// As many bytes as `length` says, or the slot holds with a NUL.
static __always_inline bool read_counted(char* string, u64 length, u64 address) {
    u32 bytes = length < WIRE_STRING ? length : WIRE_STRING - 1;

    bytes &= WIRE_STRING - 1; // old verifiers want it said
    return !bytes || !bpf_probe_read_user(string, bytes, (void*)address);
}

__noinline int fetch_value(const struct probe_registers* registers, const struct wire_fetch* fetch,
                           struct wire_values* values, u32 index) {
    u64 value, address;
    bool readable, in_kernel;

    if (!registers || !fetch || !values)
        return 0;
    // What one step leads to; further ones go through pointers, into the process.
    in_kernel = lies_in_record(fetch) && fetch->offsets <= 1;
    readable = find_base(registers, fetch, values, &value) && find_value(fetch, &value);
    address = value;
    if (readable && (fetch->flags & WIRE_FETCH_IN_MEMORY)) {
        if (!read_number(fetch, address, &value, in_kernel)) {
            value = address;
            readable = false;
        }
        in_kernel = false;
    }
    if (readable && (fetch->flags & WIRE_FETCH_STRING)) {
        char* string = values->string[fetch->string & (WIRE_MAX_STRINGS - 1)];
        u32 size = fetch->size;

        if (!size || size > WIRE_STRING)
            size = WIRE_STRING;
        // What lies behind the NUL is compared, too.
        __builtin_memset(string, 0, WIRE_STRING);
        if (fetch->flags & WIRE_FETCH_COUNTED) {
            u32 length = fetch->length & (WIRE_MAX_VALUES - 1);

            readable = (values->readable >> length & 1) &&
                       read_counted(string, values->value[length], value);
        } else {
            readable = (in_kernel ? bpf_probe_read_kernel_str(string, size, (void*)value)
                                  : bpf_probe_read_user_str(string, size, (void*)value)) >= 0;
        }
    } else if (readable && fetch->bit_size) {
        value = extend(value >> (fetch->bit_shift & 63), fetch->bit_size,
                       fetch->flags & WIRE_FETCH_SIGNED);
    } else if (readable) {
        value = extend(value, 8 * fetch->size, fetch->flags & WIRE_FETCH_SIGNED);
    }
    values->value[index & (WIRE_MAX_VALUES - 1)] = value;
    if (readable)
        values->readable |= 1u << (index & (WIRE_MAX_VALUES - 1));
    return 0;
}

// Those that are read at the end of a call, or else at its beginning.
__noinline int fetch_values(struct probe_registers* registers,
                            const struct wire_call_program* program, struct wire_values* values,
                            bool at_end) {
    if (!registers || !program || !values)
        return 0;
    for (u32 i = 0; i < WIRE_MAX_VALUES; i++) {
        if (i >= program->fetches)
            break;
        if (!(program->fetch[i].flags & WIRE_FETCH_AT_END) != !at_end)
            continue;
        if (program->fetch[i].base == WIRE_BASE_CONTEXT &&
            program->fetch[i].flags & WIRE_FETCH_STRING)
            fetch_trace(registers, &program->fetch[i], values, i);
        else if (program->fetch[i].base == WIRE_BASE_GO_LABEL)
            fetch_go_label(registers, &program->fetch[i], values, i);
        else
            fetch_value(registers, &program->fetch[i], values, i);
    }
    return 0;
}

#endif
