/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#ifndef AUGER_SLOW_TRACER_H
#define AUGER_SLOW_TRACER_H

#include "maps.h"

/*
 * Sends the call that ended as a WIRE_SLOW_CALL, with the stack at `ctx`. `return_address` and
 * `from_return` are as in wire_slow_call. A loss is counted by its cause; the result is always 0.
 */
int trace_slow_call(struct pt_regs* ctx, struct wire_call_end* end, struct wire_wait* longest_wait,
                    u64 return_address, bool from_return);

#endif
