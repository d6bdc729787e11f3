// SPDX-License-Identifier: GPL-3.0-or-later
// The writing side of OpenTelemetry's thread context, as OTEP 4947 has it.
#ifndef AUGER_TESTS_PROGRAMS_TRACE_CONTEXT_H
#define AUGER_TESTS_PROGRAMS_TRACE_CONTEXT_H

#include <stdint.h>

struct __attribute__((packed, aligned(2))) context_record {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid;
    uint8_t trace_flags;
    uint16_t attributes_size;
    uint8_t attributes[36];
};

// The current thread works for what the record says; null: for nothing.
void context_attach(struct context_record* record);

#endif
