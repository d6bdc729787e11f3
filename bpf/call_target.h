/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where a call through a pointer goes. Only the probes of such calls pay for it. */
#ifndef AUGER_CALL_TARGET_H
#define AUGER_CALL_TARGET_H

#include "kernel_types.h"

/*
 * Whether the call instruction at which a probe with this cookie stands is about to call a function
 * that the spec times. When that cannot be read it is taken for no such call, and counted as lost.
 */
int calls_timed_function(struct pt_regs* ctx, u64 cookie);

/* At a function's entry, or a jump out of it: whether the place that it returns to has a probe, see
 * tail_calls.h. */
int returns_to_known_place(struct pt_regs* ctx, u64 cookie);

#endif
