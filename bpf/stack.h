/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Taking stacks: the one place that knows how. Today the kernel walks both stacks, the user's by
 * frame pointers; a walker by call-frame tables goes in here, behind the same two functions.
 */
#ifndef AUGER_STACK_H
#define AUGER_STACK_H

#include "maps.h"

#define STACK_BYTES (WIRE_MAX_FRAMES * sizeof(u64))

/* Both write at most STACK_BYTES, leaf first, and return the number of frames. */
static __always_inline u32 take_user_stack(void* ctx, u64* frames) {
    long bytes = bpf_get_stack(ctx, frames, STACK_BYTES, BPF_F_USER_STACK);

    return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

static __always_inline u32 take_kernel_stack(void* ctx, u64* frames) {
    long bytes = bpf_get_stack(ctx, frames, STACK_BYTES, 0);

    return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

#endif
