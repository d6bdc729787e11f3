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

// A register of the frame at hand, as DWARF counts. Apart from the three that are followed only the
// interrupted frame has them.
__noinline int read_register(struct stack_walk* walk, u32 number, u64* value) {
    const struct pt_regs___kernel* regs;

    if (!walk || !value)
        return 0;
    if (number == DWARF_RSP) {
        *value = walk->sp;
        return 1;
    }
    if (number == DWARF_RBP) {
        *value = walk->bp;
        return 1;
    }
    if (number == DWARF_RBX && walk->bx_state != WIRE_RBX_VALUE)
        return walk->bx_state == WIRE_RBX_MEMORY && read_user_word(walk->bx, value);
    if (number == DWARF_RBX) {
        *value = walk->bx;
        return 1;
    }
    if (walk->count > 1)
        return 0;
    regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    switch (number) {
    case 0:
        *value = regs->ax;
        return 1;
    case 1:
        *value = regs->dx;
        return 1;
    case 2:
        *value = regs->cx;
        return 1;
    case 4:
        *value = regs->si;
        return 1;
    case 5:
        *value = regs->di;
        return 1;
    case 8:
        *value = regs->r8;
        return 1;
    case 9:
        *value = regs->r9;
        return 1;
    case 10:
        *value = regs->r10;
        return 1;
    case 11:
        *value = regs->r11;
        return 1;
    case 12:
        *value = regs->r12;
        return 1;
    case 13:
        *value = regs->r13;
        return 1;
    case 14:
        *value = regs->r14;
        return 1;
    case 15:
        *value = regs->r15;
        return 1;
    }
    return 0;
}

#endif
