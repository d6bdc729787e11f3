// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// From an interpreter's chain of frames into a walk's stack.
#include "frame_chain.h"

// Whether there was one more, and room for it and the word that says why a stack is cut.
static __always_inline bool copy_frame(struct stack_walk* walk) {
    u32 from = walk->chain.placed, to = *(volatile u32*)&walk->count;
    const u64* pair = pair_of_chain(walk, from);

    if (from >= walk->chain.count || to >= WIRE_STACK_WORDS - 2)
        return false;
    walk->frames[to] = pair[0];
    walk->frames[to + 1] = pair[1];
    walk->count = to + 2;
    walk->chain.placed = from + 1;
    return true;
}

// Where each frame is a piece: whether the next pair is another frame, and not what is told of the
// task that the one at hand is of.
static __always_inline bool ends_piece(struct stack_walk* walk) {
    return walk->chain.each && !wire_python_is_of_task(pair_of_chain(walk, walk->chain.placed)[1]);
}

// Some frames of a piece. Whether to go on.
__noinline int place_some_chain_frames(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < TURNS_AT_ONCE; i++) {
        u32 at = walk->chain.placed;

        if (at < walk->chain.count && !(*pair_of_chain(walk, at) & ~WIRE_FRAME_KIND)) {
            walk->chain.placed = at + 1;
            return 0;
        }
        if (!copy_frame(walk) || ends_piece(walk))
            return 0;
    }
    return 1;
}

__noinline int place_chain_frames(struct stack_walk* walk) {
    int more = 1;

    if (!walk)
        return 0;
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = place_some_chain_frames(walk);
    return 0;
}

__noinline int append_some_chain_frames(struct stack_walk* walk) {
    if (!walk)
        return 0;
    for (u32 i = 0; i < TURNS_AT_ONCE; i++) {
        if (!copy_frame(walk))
            return 0;
    }
    return 1;
}

__noinline int append_chain_frames(struct stack_walk* walk) {
    int more = 1;

    if (!walk)
        return 0;
    for (u32 i = 0; i < FRAMES_OF_CHAIN / TURNS_AT_ONCE && more; i++)
        more = append_some_chain_frames(walk);
    return 0;
}
