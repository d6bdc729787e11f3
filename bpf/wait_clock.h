/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The clocks by which waits are sampled, of threads and of goroutines: each goes while its owner
 * waits. */
#ifndef AUGER_WAIT_CLOCK_H
#define AUGER_WAIT_CLOCK_H

#include "maps.h"

/* How often the clock has ticked by then: once in each period, at a moment of its own that is as
 * good as random (the finalizer of MurmurHash3, by Austin Appleby), so that it is in step with
 * nothing. `seed`: whose clock it is. */
static __noinline u64 ticks_by(u64 clock_ns, u32 seed, u64 period_ns) {
    u64 periods = period_ns ? clock_ns / period_ns : 0;
    u64 moment = periods + ((u64)seed << 32);

    moment = (moment ^ (moment >> 33)) * 0xff51afd7ed558ccd;
    moment = (moment ^ (moment >> 33)) * 0xc4ceb9fe1a85ec53;
    moment = ((moment >> 32) * period_ns) >> 32;
    return periods + (clock_ns - periods * period_ns > moment);
}

#endif
