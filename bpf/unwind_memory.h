// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// What a walk reads of the process's memory, and registers. Of the walk alone.
#ifndef AUGER_UNWIND_MEMORY_H
#define AUGER_UNWIND_MEMORY_H

#include "unwind_lookup.h"

static __always_inline bool read_user_word(u64 address, u64* word) {
    return !bpf_probe_read_user(word, sizeof(*word), (void*)address);
}

// Takes a new piece of the stack, which begins at `address` and ends in the same page.
__noinline int move_window(struct stack_walk* walk, u64 address) {
    u64 size = STACK_PAGE - (address & (STACK_PAGE - 1));

    if (!walk)
        return 0;
    if (size > STACK_WINDOW)
        size = STACK_WINDOW;
    walk->window_start = address;
    walk->window_end = 0;
    if (!bpf_probe_read_user(walk->window, size, (void*)address))
        walk->window_end = address + size;
    return 0;
}

// A word of the stack. Walks go upwards: what is wanted next most often lies in the same window.
static __always_inline bool read_stack_word(struct stack_walk* walk, u64 address, u64* word) {
    if (address & 7)
        return read_user_word(address, word);
    if (address < walk->window_start || address >= walk->window_end) {
        move_window(walk, address);
        if (!walk->window_end)
            return false;
    }
    *word = walk->window[((address - walk->window_start) >> 3) & (STACK_WINDOW_WORDS - 1)];
    return true;
}

#endif
