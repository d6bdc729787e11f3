// SPDX-License-Identifier: GPL-3.0-or-later
//
// Coroutines by swapcontext, with timed functions open while their stacks are swapped out. Half
// of the stacks are mapped with a guard page, half are static arrays, so stack pointers jump far
// up and down. All begin in order and finish in another, which breaks every scheme that takes the
// latest entry on a thread for the one that returns.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { coroutine_count = 6, stack_size = 64 * 1024, steps = 3 };
enum { CORO_BODY, CORO_STEP };
static struct truth_function functions[] = {{.name = "coro_body"}, {.name = "coro_step"}};
static uint64_t rounds, switches, abandon_every, abandoned, migrated;
static bool migrate;

struct coroutine {
    ucontext_t context;
    void* stack;
    uint64_t result;
    bool finished;
};
static struct coroutine coroutines[coroutine_count];
static char static_stacks[coroutine_count / 3][stack_size] __attribute__((aligned(64)));
static ucontext_t scheduler;

static void yield_from(struct coroutine* self) {
    truth_count(&switches);
    swapcontext(&self->context, &scheduler);
}

// Open while its coroutine is swapped out.
TIMED uint64_t coro_step(struct coroutine* self, uint64_t value) {
    truth_count(&functions[CORO_STEP].entries);
    yield_from(self);
    truth_count(&functions[CORO_STEP].returns);
    return value * 5 + 1;
}

TIMED uint64_t coro_body(struct coroutine* self, uint64_t value) {
    truth_count(&functions[CORO_BODY].entries);
    for (int step = 0; step < steps; ++step)
        value = coro_step(self, value);
    truth_count(&functions[CORO_BODY].returns);
    return value;
}

static void coroutine_main(unsigned index) {
    struct coroutine* self = &coroutines[index];
    self->result = coro_body(self, index);
    self->finished = true;
}

static void resume(struct coroutine* which) {
    swapcontext(&scheduler, &which->context);
}

static void* begin_all(void* unused) {
    (void)unused;
    for (unsigned i = 0; i < coroutine_count; ++i) {
        struct coroutine* which = &coroutines[i];
        which->finished = false;
        getcontext(&which->context);
        which->context.uc_stack.ss_sp = which->stack;
        which->context.uc_stack.ss_size = stack_size;
        which->context.uc_link = &scheduler;
        makecontext(&which->context, (void (*)(void))coroutine_main, 1, i);
        resume(which);
    }
    return NULL;
}

// The order in which they go on differs from the order in which they began, and from step to step.
static void finish_all(uint64_t round, bool leave_one) {
    for (int step = 0; step < steps; ++step)
        for (unsigned i = 0; i < coroutine_count; ++i) {
            const unsigned index =
                step % 2 == 0 ? coroutine_count - 1 - i : (i * 5 + round) % coroutine_count;
            if (leave_one && index == round % coroutine_count)
                continue;
            resume(&coroutines[index]);
        }
}

static uint64_t expected_result(uint64_t value) {
    for (int step = 0; step < steps; ++step)
        value = value * 5 + 1;
    return value;
}

static void* guarded_stack(void) {
    const size_t page = (size_t)getpagesize();
    char* memory = mmap(NULL, stack_size + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
        perror("coroutines: stack");
        exit(1);
    }
    return memory + page;
}

// Large enough to have a mapping of its own, which is one with those beside it: that of the main
// thread's control block, too.
static void* allocated_stack(void) {
    void* memory = malloc(256 * 1024);
    if (!memory)
        exit(1);
    return memory;
}

static void* make_stack(unsigned i) {
    switch (i % 3) {
    case 0:
        return guarded_stack();
    case 1:
        return static_stacks[i / 3];
    default:
        return allocated_stack();
    }
}

static void report(FILE* out) {
    fprintf(out,
            ",\"rounds\":%" PRIu64 ",\"switches\":%" PRIu64 ",\"abandoned\":%" PRIu64
            ",\"migrated\":%" PRIu64,
            truth_read(&rounds), truth_read(&switches), truth_read(&abandoned),
            truth_read(&migrated));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"migrate", TRUTH_FLAG, &migrate, "begin on one thread and finish on another"},
        {"abandon-every", TRUTH_NUMBER, &abandon_every,
         "in every Nth round leave one coroutine unfinished; 0 is never"},
    };
    const struct truth_program program = {.name = "coroutines",
                                          .about = "swaps stacks inside timed functions",
                                          .options = options,
                                          .option_count = 2,
                                          .functions = functions,
                                          .function_count = 2,
                                          .report = report,
                                          .pause_us = 200};
    for (unsigned i = 0; i < coroutine_count; ++i)
        coroutines[i].stack = make_stack(i);
    truth_start(argc, argv, &program);

    for (uint64_t done = 0; truth_more(done); ++done) {
        const bool leave_one = abandon_every && done % abandon_every == abandon_every - 1;
        pthread_t thread;
        if (migrate && pthread_create(&thread, NULL, begin_all, NULL) == 0) {
            pthread_join(thread, NULL);
            truth_add(&migrated, coroutine_count);
        } else {
            begin_all(NULL);
        }
        finish_all(done, leave_one);
        for (unsigned i = 0; i < coroutine_count; ++i) {
            if (leave_one && i == done % coroutine_count) {
                // Its stack is used afresh in the next round: both of its calls are gone.
                truth_count(&abandoned);
                truth_count(&functions[CORO_BODY].unwound);
                truth_count(&functions[CORO_STEP].unwound);
                continue;
            }
            truth_expect(coroutines[i].finished, "a coroutine did not finish");
            truth_expect(coroutines[i].result == expected_result(i), "a wrong result");
        }
        truth_count(&rounds);
    }
    return truth_finish();
}
