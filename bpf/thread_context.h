/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the current thread works for, as its program says: a record that a variable of the thread's
 * points to (OpenTelemetry's thread context, OTEP 4947). Everything there is the program's to
 * write, so it is read as any of its memory: at a bounded cost, and it may not be there.
 */
#ifndef AUGER_THREAD_CONTEXT_H
#define AUGER_THREAD_CONTEXT_H

#include "call_values.h"

/* In REGISTER_CONTEXT_STATE. */
enum context_state {
    CONTEXT_UNREADABLE = 0,
    CONTEXT_NONE = 1,    /* it works for nothing, or says nothing */
    CONTEXT_PRESENT = 2, /* what it works for stands from REGISTER_CONTEXT on */
};

/* Words from REGISTER_CONTEXT on, as the record has them. */
enum { CONTEXT_TRACE = 0, CONTEXT_SPAN = 2, CONTEXT_STATUS = 3 };

/* Into the registers of the probe that runs just now. */
int note_context(struct probe_registers* registers);

/* The trace of what was noted, as value `index`. (The span is a number, and read as others are.) */
int fetch_trace(const struct probe_registers* registers, const struct wire_fetch* fetch,
                struct wire_values* values, u32 index);

#endif
