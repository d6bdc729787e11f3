// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// Where a thread is that a probe keeps busy: where it would be without. Of the walk alone.
#ifndef AUGER_ARCH_WALK_PROBES_H
#define AUGER_ARCH_WALK_PROBES_H

#include "unwind_steps.h"

#include ARCH(registers.h)

// What is known of the place that leave_probe() finds.
enum place {
    PLACE_KNOWN,
    PLACE_GUESSED,
    PLACE_UNKNOWN, // the walk ends where it begins
};

// The thread has returned to the kernel's code for return probes: to the one for its innermost
// probe, which has pushed up to three registers; or on the way out of it, where the stack has the
// address.
static __always_inline int leave_return_code(struct stack_walk* walk,
                                             const struct pt_regs___kernel* regs) {
    u64 code = 0, skipped, address;

    if (walk->return_instance && walk->return_instance_slot + sizeof(u64) - walk->sp <= 24) {
        walk->slot = walk->return_instance_slot;
        walk->sp = walk->slot + sizeof(u64);
        restore_return_address(walk);
        return PLACE_KNOWN;
    }
    if (!read_user_word(walk->ip, &code))
        return PLACE_UNKNOWN;
    if ((u32)code == 0xc3595b41) // pop %r11; pop %rcx; ret
        skipped = 16;
    else if ((u16)code == 0xc359)
        skipped = 8;
    else if ((u8)code == 0xc3)
        skipped = 0;
    else
        return PLACE_UNKNOWN;
    if (!read_user_word(walk->sp + skipped, &address))
        return PLACE_UNKNOWN;
    // The system call copies the address to where the code has pushed rax, as the last thing that
    // it does. Until it has, rax is there, and the return probe is gone: nothing has the address.
    if ((int)regs->orig_ax == -1 && skipped == 2 * sizeof(u64) && address == regs->ax)
        return PLACE_UNKNOWN;
    walk->ip = address;
    walk->sp += skipped + sizeof(u64);
    return PLACE_KNOWN;
}

// On its way out of the system call for return probes (Linux 6.11) the kernel first lowers the
// stack pointer again, below the three registers that its code has pushed, and then puts back where
// that code goes on. In between the place is the caller's, and the stack pointer is not.
static __always_inline bool is_below_pushed_registers(const struct stack_walk* walk,
                                                      const struct pt_regs___kernel* regs) {
    u64 pushed[3];

    return (int)regs->orig_ax == -1 &&
           !bpf_probe_read_user(pushed, sizeof(pushed), (void*)walk->sp) &&
           pushed[0] == regs->r11 && pushed[1] == regs->cx && pushed[2] == regs->ax &&
           // Three words that are the same, zeros above all, may lie anywhere.
           (pushed[0] != pushed[1] || pushed[1] != pushed[2]);
}

// Of a thread that a probe keeps busy: where it would be without the probe. Returns an enum place.
__noinline int leave_probe(struct stack_walk* walk) {
    struct task_struct* task = bpf_get_current_task_btf();
    const struct pt_regs___kernel* regs = (void*)bpf_task_pt_regs(task);
    const struct uprobe_task* utask = task->utask;
    u64 place, area;
    u8 code[2] = {}; // before the place, and there

    if (!walk || !utask)
        return PLACE_KNOWN;
    place = BPF_CORE_READ(utask, xol_vaddr);
    area = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
    if (place && BPF_CORE_READ(utask, active_uprobe) && walk->ip - place < 16) {
        // The instruction is executed elsewhere. None is longer than 15 bytes. (One that returns to
        // the kernel's code has done that before the kernel knows that it is executed.)
        walk->ip += BPF_CORE_READ(utask, vaddr) - place;
    } else if (area && walk->ip - area < STACK_PAGE) {
        return leave_return_code(walk, regs);
    } else if (area && is_below_pushed_registers(walk, regs)) {
        walk->sp += 3 * sizeof(u64);
    } else if (walk->in_kernel && (int)regs->orig_ax < 0 &&
               !bpf_probe_read_user(code, sizeof(code), (void*)(walk->ip - 1))) {
        if (code[0] == 0xcc) {
            // The breakpoint has been hit, and the kernel has not put the address back yet. (When
            // it has emulated an instruction of one byte the address is the same; but then it
            // disables interrupts, and those that wait come when the thread is back in its own
            // code.)
            walk->ip--;
            return PLACE_GUESSED;
        }
        // It has. When it emulates a push it lowers the stack pointer first, and then goes on to
        // the next instruction: in between a register stands where the rules look for something
        // else, and many a register is 0, as the return address of the outermost function is.
        if (code[1] == 0xcc)
            return PLACE_GUESSED;
    }
    return PLACE_KNOWN;
}

#endif
