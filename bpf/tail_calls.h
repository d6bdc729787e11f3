/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions that end by a jump to another one. Such a call goes on until that one, or whoever it
 * jumps to in turn, comes back to the caller, so it ends there: at the instructions behind those
 * that call the function, as far as these are known; or at the ends of what is jumped to, where the
 * function has no others.
 */
#ifndef AUGER_TAIL_CALLS_H
#define AUGER_TAIL_CALLS_H

#include "wire.h"

/* In a cookie: of a probe on such a jump or, behind a call instruction, where it comes back to. Of
 * an entry probe: a call begins with the jump, of what is jumped to; where it would come back to is
 * where the jumping function would. */
#define WIRE_COOKIE_TAIL (1u << 28)

/* In wire_spec.flags: `call_targets` has places that the function is known to return to, by their
 * distance from the entry probe. */
#define WIRE_SPEC_TAILS 16u

/* In wire_spec.flags: all exits of the function are such jumps, and there are probes at the ends of
 * whatever it jumps to, without WIRE_COOKIE_TAIL. */
#define WIRE_SPEC_TAIL_ENDS 32u

#endif
