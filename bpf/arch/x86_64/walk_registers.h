// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The registers of a frame. Of the walk alone.
#ifndef AUGER_ARCH_WALK_REGISTERS_H
#define AUGER_ARCH_WALK_REGISTERS_H

#include "unwind_memory.h"

enum {
    DWARF_RBX = 3,
    DWARF_RBP = 6,
    DWARF_RSP = 7,
};

// A register of the frame that was interrupted, as DWARF counts, apart from the stack and frame
// pointers, which are followed.
static __always_inline bool read_interrupted_register(u32 number, u64* value) {
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(bpf_get_current_task_btf());

    switch (number) {
    case 0:
        *value = regs->ax;
        return true;
    case 1:
        *value = regs->dx;
        return true;
    case 2:
        *value = regs->cx;
        return true;
    case DWARF_RBX:
        *value = regs->bx;
        return true;
    case 4:
        *value = regs->si;
        return true;
    case 5:
        *value = regs->di;
        return true;
    case 8:
        *value = regs->r8;
        return true;
    case 9:
        *value = regs->r9;
        return true;
    case 10:
        *value = regs->r10;
        return true;
    case 11:
        *value = regs->r11;
        return true;
    case 12:
        *value = regs->r12;
        return true;
    case 13:
        *value = regs->r13;
        return true;
    case 14:
        *value = regs->r14;
        return true;
    case 15:
        *value = regs->r15;
        return true;
    }
    return false;
}

// A register of the frame at hand. Apart from the three that are followed only the interrupted
// frame has them.
__noinline int read_register(struct stack_walk* walk, u32 number, u64* value) {
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
    return read_interrupted_register(number, value);
}

#endif
