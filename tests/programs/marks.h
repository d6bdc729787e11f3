// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the sources of `marks` share: marks in inline functions and templates, which more than one
// of them has.
#ifndef AUGER_TESTS_PROGRAMS_MARKS_H
#define AUGER_TESTS_PROGRAMS_MARKS_H

#include "common/truth.h"

#include <auger.h>
#include <stdint.h>

extern uint64_t touches, evaluations, negatives;

#ifdef __cplusplus
extern "C" {
#endif

void ship(uint64_t id);
uint64_t convert_elsewhere(uint64_t id);

// How often somebody wanted the values.
static inline uint64_t evaluated(uint64_t value) {
    truth_count(&evaluations);
    return value;
}

static inline void touch(uint64_t id, int amount, const char* text) {
    AUGER_MARK(touch, evaluated(id), amount, text);
    truth_count(&touches);
    if (amount < 0)
        truth_count(&negatives);
}

#ifdef __cplusplus
}

extern uint64_t conversions;

// An id that is the object's address.
template <class Number>
inline Number convert(Number number) {
    Number result = number;
    AUGER_SPAN(convert, &result);
    touch(static_cast<uint64_t>(number), number % 2 ? 1 : -1, "convert");
    result += static_cast<Number>(number % 3);
    truth_count(&conversions);
    return result;
}
#endif

#endif
