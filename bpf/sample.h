/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Where samples are put together: by the sampler for running threads, by the off-CPU sampler for
 * waiting ones. */
#ifndef AUGER_SAMPLE_H
#define AUGER_SAMPLE_H

#include "open_calls.h"

/* Twice as many words for calls as there can be: the verifier knows no tighter bound than a mask.
 */
enum {
    WAKER_WORDS = sizeof(struct wire_waker) / sizeof(u64),
    WAKER_FRAMES = WIRE_MAX_FRAMES + 1, /* words of its stack */
    SAMPLE_WORDS = WIRE_STACK_WORDS + (WIRE_MAX_FRAMES + 1) + 4 * WIRE_MAX_OPEN_CALLS + WAKER_WORDS,
};

struct sample_buffer {
    struct wire_sample sample;
    u64 words[SAMPLE_WORDS]; /* calls, user frames, kernel frames or waker */
};

/*
 * Lists an open call of the current thread as one that the sample was taken in; 0 when it is none:
 * deleted, or left without that any probe has seen it, by a thread that is `here`, above it.
 */
int list_open_call(struct open_call* call, struct sample_buffer* buffer, struct stack_place* here);

/* Where the frames begin. (The mask is for the verifier.) */
static __always_inline u32 words_of_calls(const struct wire_sample* sample) {
    return 2 * (sample->calls & (2 * WIRE_MAX_OPEN_CALLS - 1));
}

/* Where they end. */
static __always_inline u32 words_of_frames(const struct wire_sample* sample) {
    u32 frames = *(volatile u16*)&sample->user_frames;

    return words_of_calls(sample) + (frames > WIRE_STACK_WORDS ? WIRE_STACK_WORDS : frames);
}

#endif
