/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where programs say what their threads work for: of a process, the place of the variable
 * otel_thread_ctx_v1, a pointer to a record of what the thread works for (OpenTelemetry's thread
 * context, OTEP 4947). */
#ifndef AUGER_WIRE_CONTEXTS_H
#define AUGER_WIRE_CONTEXTS_H

#include "thread_places.h"

enum wire_context_limit {
    WIRE_CONTEXT_PROCESSES = 16384, /* of which this is known at once */
};

#endif
