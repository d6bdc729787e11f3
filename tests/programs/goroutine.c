// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a Go program does, without Go: a goroutine (goroutine_asm.S), on a stack of its own, that
// has `work_for_goroutine` called on another stack all the time, as Go's runtime does; with Go's
// table of functions, and neither symbols nor call frame information for them.
#define _GNU_SOURCE
#include "common/truth.h"

#include <stdlib.h>

enum { stack_size = 65536 };
static uint64_t below, work = 100000;

// As far as Go's runtime.systemstack looks into them.
struct goroutine {
    uint64_t unused_0[6];
    struct machine* machine; // 0x30
    uint64_t stack;          // 0x38: the stack pointer that it has left
    uint64_t code;
};
struct machine {
    struct goroutine* scheduler;
    uint64_t unused_8[23];
    struct goroutine* running; // 0xc0
};

__thread struct goroutine* current_goroutine;

void enter_goroutine(void* stack_end); // in goroutine_asm.S; does not return

__attribute__((noinline)) void work_for_goroutine(void) {
    for (volatile uint64_t i = 0; i < work; ++i)
        ;
    static unsigned times;
    // Asking for the time takes longer than changing stacks.
    if (++times % 256 == 0 && !truth_more(0))
        exit(truth_finish());
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"below", TRUTH_NUMBER, &below, "1: the goroutine's stack lies below the other"},
        {"work", TRUTH_NUMBER, &work, "turns of a loop each time"},
    };
    const struct truth_program program = {.name = "goroutine",
                                          .about = "works on another stack for a goroutine",
                                          .options = options,
                                          .option_count = 2};
    truth_start(argc, argv, &program);
    static struct goroutine goroutine, scheduler;
    static struct machine machine;
    machine.scheduler = &scheduler;
    machine.running = &goroutine;
    goroutine.machine = scheduler.machine = &machine;
    current_goroutine = &goroutine;
    char* stacks = aligned_alloc(16, 2 * stack_size);
    if (!stacks)
        return 1;
    scheduler.stack = (uintptr_t)stacks + (below ? 2 : 1) * stack_size - 64;
    enter_goroutine(stacks + (below ? 1 : 2) * stack_size);
    return 1;
}
