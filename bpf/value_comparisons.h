// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Which comparisons of a call's values hold, and so which predicates.
#ifndef AUGER_VALUE_COMPARISONS_H
#define AUGER_VALUE_COMPARISONS_H

#include "call_values.h"

static __always_inline bool compare_numbers(u32 operation, bool is_signed, u64 a, u64 b) {
    switch (operation) {
    case WIRE_EQUAL:
        return a == b;
    case WIRE_UNEQUAL:
        return a != b;
    case WIRE_LESS:
        return is_signed ? (s64)a < (s64)b : a < b;
    case WIRE_LESS_EQUAL:
        return is_signed ? (s64)a <= (s64)b : a <= b;
    case WIRE_GREATER:
        return is_signed ? (s64)a > (s64)b : a > b;
    case WIRE_GREATER_EQUAL:
        return is_signed ? (s64)a >= (s64)b : a >= b;
    case WIRE_BITS_SET:
        return a & b;
    case WIRE_BITS_CLEAR:
        return !(a & b);
    default:
        return false;
    }
}

static __always_inline bool is_same_string(const char* a, const char* b) {
    const u64 *x = (const u64*)a, *y = (const u64*)b;
    u64 difference = 0;

    for (u32 i = 0; i < WIRE_STRING / sizeof(u64); i++)
        difference |= x[i] ^ y[i];
    return !difference;
}

__noinline int comparison_holds(const struct wire_call_program* program,
                                const struct wire_values* values, u32 index) {
    const struct wire_comparison* comparison;
    u32 value, other;

    if (!program || !values)
        return 0;
    comparison = &program->comparison[index & (WIRE_MAX_COMPARISONS - 1)];
    value = comparison->value & (WIRE_MAX_VALUES - 1);
    if (!(values->readable >> value & 1))
        return 0;
    if (comparison->flags & WIRE_COMPARE_STRING) {
        u32 slot = program->fetch[value].string & (WIRE_MAX_STRINGS - 1);
        u32 constant = comparison->constant & (WIRE_MAX_STRINGS - 1);

        return is_same_string(values->string[slot], program->string[constant]) ==
               (comparison->operation == WIRE_EQUAL);
    }
    if (comparison->flags & WIRE_COMPARE_VALUES) {
        other = comparison->constant & (WIRE_MAX_VALUES - 1);
        return (values->readable >> other & 1) &&
               compare_numbers(comparison->operation, comparison->flags & WIRE_COMPARE_SIGNED,
                               values->value[value], values->value[other]);
    }
    return compare_numbers(comparison->operation, comparison->flags & WIRE_COMPARE_SIGNED,
                           values->value[value], comparison->constant);
}

// Which comparisons hold: bits.
__noinline int comparisons_that_hold(const struct wire_call_program* program,
                                     const struct wire_values* values) {
    u32 holding = 0;

    if (!program || !values)
        return 0;
    for (u32 i = 0; i < WIRE_MAX_COMPARISONS; i++) {
        if (i >= program->comparisons)
            break;
        if (comparison_holds(program, values, i))
            holding |= 1u << i;
    }
    return holding;
}

static __noinline bool predicate_holds(const struct wire_predicate* predicate, u32 holding) {
    for (u32 i = 0; i < WIRE_MAX_CLAUSES; i++) {
        if (i >= predicate->clauses)
            break;
        if ((predicate->clause[i] & holding) == predicate->clause[i])
            return true;
    }
    return !predicate->clauses;
}

#endif
