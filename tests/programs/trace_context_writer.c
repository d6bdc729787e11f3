// SPDX-License-Identifier: GPL-3.0-or-later
//
// Holds the thread-local variable that those who observe the process look for: compiled into a
// program, or a library of its own.
#include "trace_context.h"

#include <stdatomic.h>

#define EXPORTED __attribute__((visibility("default")))

#ifdef CONTEXT_PADDING
// More than fits into what is left of threads' first block: a library that has this gets blocks of
// its own.
EXPORTED __thread char context_padding[CONTEXT_PADDING];
#endif
EXPORTED __thread struct context_record* volatile otel_thread_ctx_v1;

EXPORTED void context_attach(struct context_record* record);
EXPORTED void context_attach(struct context_record* record) {
#ifdef CONTEXT_PADDING
    context_padding[0] = 1;
#endif
    atomic_signal_fence(memory_order_seq_cst);
    otel_thread_ctx_v1 = record;
    atomic_signal_fence(memory_order_seq_cst);
}
