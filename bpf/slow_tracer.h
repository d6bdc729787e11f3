/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#ifndef AUGER_SLOW_TRACER_H
#define AUGER_SLOW_TRACER_H

#include "maps.h"

/*
 * A call that is slow: calls->ending, of which calls->end tells; `values` NULL: none were read.
 * `return_address` as in wire_slow_call. `from_return`: the function has returned already, and
 * the stack begins in its caller.
 */
int trace_slow_call(struct pt_regs* ctx, struct open_calls* calls, const struct wire_values* values,
                    u64 return_address, bool from_return);

#endif
