/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#ifndef AUGER_SLOW_TRACER_H
#define AUGER_SLOW_TRACER_H

#include "maps.h"

/*
 * A call that is slow: calls->ending, of which calls->end tells; `values` NULL: none were read.
 * `from_return`: the function has returned already, and the stack begins in its caller; `at_exit`:
 * the thread is at an exit instruction of it. Neither: a span that ends, or a place that is
 * reached, where the thread is. The thread's own calls are `around` it: `calls`, but at a
 * tracepoint. NULL: the span is no business of the thread's that is here, of which nothing is told.
 * Returns how long it took, since calls->end, nanoseconds; 0: nothing was told.
 */
int trace_slow_call(struct open_calls* calls, struct open_calls* around,
                    const struct wire_values* values, bool from_return, bool at_exit);

/* Of an exchange, calls->exchange, which has ended somewhere else: it has no stack, and no calls
 * around it. */
int trace_slow_exchange(struct open_calls* calls);

#endif
