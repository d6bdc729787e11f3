/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Questions about a thread's open calls that both the tracker and the sampler ask. */
#ifndef AUGER_OPEN_CALLS_H
#define AUGER_OPEN_CALLS_H

#include "maps.h"

/* A call whose spec was deleted or replaced since is no call any more. */
static __always_inline bool is_current(const struct open_call* call) {
    u32 index = call->spec;
    struct wire_spec* spec = bpf_map_lookup_elem(&specs, &index);

    return spec && (u16)spec->generation == call->generation && spec->flags;
}

/*
 * 1 when two stack pointers point into one mapping. Coroutines, fibers and alternate signal stacks
 * have several, and only on one stack does a higher stack pointer prove that a call is gone. Asked
 * only in the rare case that it would. When the mappings cannot be read now (their lock is taken),
 * the answer is 1: a call wrongly kept would hold samples that are not its own.
 */
int on_one_stack(u64 a, u64 b);

#endif
