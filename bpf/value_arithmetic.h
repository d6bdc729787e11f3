// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What is computed of two values: wire_operation.
#ifndef AUGER_VALUE_ARITHMETIC_H
#define AUGER_VALUE_ARITHMETIC_H

#include "maps.h"

static __always_inline u64 magnitude(u64 value) {
    return (s64)value < 0 ? -value : value;
}

static __always_inline u64 compute(u32 operation, u64 a, u64 b) {
    u64 result;

    switch (operation) {
    case WIRE_ADD:
        return a + b;
    case WIRE_SUBTRACT:
        return a - b;
    case WIRE_MULTIPLY:
        return a * b;
    case WIRE_AND:
        return a & b;
    case WIRE_OR:
        return a | b;
    case WIRE_SHIFT_LEFT:
        return a << (b & 63);
    case WIRE_SHIFT_RIGHT:
        return a >> (b & 63);
    case WIRE_SHIFT_RIGHT_SIGNED:
        return (u64)((s64)a >> (b & 63));
    case WIRE_DIVIDE:
        return a / b;
    case WIRE_DIVIDE_SIGNED: /* BPF of this age has unsigned division alone */
        result = magnitude(a) / magnitude(b);
        return (s64)(a ^ b) < 0 ? -result : result;
    case WIRE_MODULO:
        return a % b;
    case WIRE_MODULO_SIGNED:
        result = magnitude(a) % magnitude(b);
        return (s64)a < 0 ? -result : result;
    default:
        return 0;
    }
}

#endif
