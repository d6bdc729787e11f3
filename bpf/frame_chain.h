/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* An interpreter's own frames in a walk: its chain of frames is read first, and its pieces are put
 * behind the native frames that run them. See struct frame_chain. */
#ifndef AUGER_FRAME_CHAIN_H
#define AUGER_FRAME_CHAIN_H

#include "unwind.h"

enum { FRAMES_OF_CHAIN = WIRE_STACK_WORDS / 2 };

/* Its bounds stand in memory, and are read anew each time: the compiler would keep what it knows of
 * them from the verifier. */
static __always_inline u64* pair_of_chain(struct stack_walk* walk, u32 at) {
    return &walk->chain.words[2 * (at & (FRAMES_OF_CHAIN - 1))];
}

static __always_inline void add_to_chain(struct stack_walk* walk, u64 first, u64 second) {
    u32 at = walk->chain.count;
    u64* pair = pair_of_chain(walk, at);

    if (at >= FRAMES_OF_CHAIN)
        return;
    pair[0] = first;
    pair[1] = second;
    walk->chain.count = at + 1;
}

static __always_inline void clear_chain(struct stack_walk* walk) {
    walk->chain.count = 0;
    walk->chain.placed = 0;
    walk->chain.stop = 0;
    walk->chain.each = 0;
}

/* Has native frames of the loop known. `from`: where in the process its addresses are from. */
static __always_inline void look_for_loop(struct stack_walk* walk,
                                          const struct wire_loop_code* code, u64 from) {
    walk->loop.code.body = from + code->body;
    walk->loop.code.body_size = code->body_size;
    walk->loop.code.cold = from + code->cold;
    walk->loop.code.cold_size = code->cold_size;
}

/* Whether the frame at hand is one of the loop's. */
static __always_inline bool is_in_loop(const struct stack_walk* walk) {
    u64 code = walk->exact ? walk->ip : walk->ip - 1;

    return code - walk->loop.code.body < walk->loop.code.body_size ||
           code - walk->loop.code.cold < walk->loop.code.cold_size;
}

/* Whether frames are left that have no place yet. */
static __always_inline bool has_chain_frames(const struct stack_walk* walk) {
    return walk->chain.placed < walk->chain.count;
}

/* Puts the next piece behind the native frames that were walked. */
int place_chain_frames(struct stack_walk* walk);

/* Of a walk that has ended: all that have no place yet, each piece with its boundary. */
int append_chain_frames(struct stack_walk* walk);

#endif
