// SPDX-License-Identifier: GPL-3.0-or-later
//
// Coroutines by a switch of the program's own, with a timed function open while its stack is left.
// They go on in another order than they began, which kills a program whose return addresses were
// replaced. Where the switch comes from differs: written into the program (switches_asm.S, linked
// in several ways), made at run time (JIT), from a library that is loaded and used at once (LATE),
// the C library's, found by name at run time (DLSYM), or a signal handler, which puts the registers
// of another coroutine in the place of those it interrupted (SIGNAL).
#define _GNU_SOURCE
#include "common/truth.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { coroutine_count = 5, stack_size = 64 * 1024, steps = 3 };
enum { CORO_STEP };
static struct truth_function functions[] = {{.name = "coro_step"}};
static uint64_t rounds, switches;

struct context {
    void* stack_pointer;
    void* go_on; // the jumping switch only, as what follows
    void* registers[6];
    ucontext_t whole; // of DLSYM and SIGNAL
    bool begun;       // of SIGNAL
};

struct coroutine {
    struct context context;
    char stack[stack_size] __attribute__((aligned(64)));
    uint64_t result;
    bool finished;
};
static struct coroutine coroutines[coroutine_count];
static struct context scheduler;
static struct coroutine* starting;

typedef void switch_function(struct context* from, struct context* to);

#if defined(SWITCH_JIT) || defined(SWITCH_LATE) || defined(SWITCH_DLSYM)
static _Noreturn void fail(const char* subject) {
    perror(subject);
    exit(1);
}
#endif

#if defined(SWITCH_JIT)
// push %rbp, %rbx, %r12 to %r15; mov %rsp,(%rdi); mov (%rsi),%rsp; pop them; ret
static const unsigned char code[] = {0x55, 0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41,
                                     0x57, 0x48, 0x89, 0x27, 0x48, 0x8b, 0x26, 0x41, 0x5f,
                                     0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, 0xc3};
static switch_function* find_switch(void) {
    void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("memory");
    memcpy(memory, code, sizeof code);
    if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0)
        fail("executable memory");
    return (switch_function*)(uintptr_t)memory;
}
#elif defined(SWITCH_LATE)
static switch_function* find_switch(void) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    if (length <= 0)
        fail("/proc/self/exe");
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "libswitches_late.so");
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    switch_function* found =
        library ? (switch_function*)(uintptr_t)dlsym(library, "switch_stack") : NULL;
    if (!found)
        fail(path);
    return found;
}
#elif defined(SWITCH_DLSYM)
static int (*swap)(ucontext_t*, const ucontext_t*);
static void swap_whole(struct context* from, struct context* to) {
    swap(&from->whole, &to->whole);
}
static switch_function* find_switch(void) {
    swap = (int (*)(ucontext_t*, const ucontext_t*))(uintptr_t)dlsym(RTLD_DEFAULT, "swapcontext");
    if (!swap)
        fail("swapcontext");
    return swap_whole;
}
#elif defined(SWITCH_SIGNAL)
static struct context *leaves, *goes_on;
// Here calls of one thread alone are interrupted, in the system call that sends the signal.
static void handle(int signal, siginfo_t* what, void* interrupted) {
    ucontext_t* const context = interrupted;
    (void)signal, (void)what;
    memcpy(leaves->whole.uc_mcontext.gregs, context->uc_mcontext.gregs, sizeof(gregset_t));
    leaves->begun = true;
    if (goes_on->begun) {
        memcpy(context->uc_mcontext.gregs, goes_on->whole.uc_mcontext.gregs, sizeof(gregset_t));
        return;
    }
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)goes_on->stack_pointer;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)goes_on->go_on;
}
static void interrupt(struct context* from, struct context* to) {
    leaves = from;
    goes_on = to;
    raise(SIGURG);
}
static switch_function* find_switch(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGURG, &action, NULL);
    return interrupt;
}
#else
void switch_stack(struct context* from, struct context* to);
static switch_function* find_switch(void) {
    return switch_stack;
}
#endif

static switch_function* switch_to;

// Open while its coroutine's stack is left.
TIMED uint64_t coro_step(struct coroutine* self, uint64_t value) {
    truth_count(&functions[CORO_STEP].entries);
    truth_count(&switches);
    switch_to(&self->context, &scheduler);
    truth_count(&functions[CORO_STEP].returns);
    return value * 5 + 1;
}

static void body(void) {
    struct coroutine* self = starting;
    uint64_t value = (uint64_t)(self - coroutines);
    for (int step = 0; step < steps; ++step)
        value = coro_step(self, value);
    self->result = value;
    self->finished = true;
    switch_to(&self->context, &scheduler);
    abort(); // nobody comes back
}

static void prepare_stack(struct coroutine* which) {
    // What a switch pops, and then the address that it returns to; aligned as after a call.
    void** top = (void**)(which->stack + stack_size - 64);
    *--top = NULL;
    *--top = (void*)(uintptr_t)body;
    which->context.go_on = *top;
#if defined(SWITCH_JUMP) || defined(SWITCH_SIGNAL)
    ++top;
#else
    for (int i = 0; i < 6; ++i)
        *--top = NULL;
#endif
    which->context.stack_pointer = top;
    which->context.begun = false;
#if defined(SWITCH_DLSYM)
    int (*get)(ucontext_t*) = (int (*)(ucontext_t*))(uintptr_t)dlsym(RTLD_DEFAULT, "getcontext");
    void (*make)(ucontext_t*, void (*)(void), int, ...) =
        (void (*)(ucontext_t*, void (*)(void), int, ...))(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                          "makecontext");
    get(&which->context.whole);
    which->context.whole.uc_stack.ss_sp = which->stack;
    which->context.whole.uc_stack.ss_size = stack_size;
    which->context.whole.uc_link = NULL;
    make(&which->context.whole, body, 0);
#endif
}

static uint64_t expected_result(uint64_t value) {
    for (int step = 0; step < steps; ++step)
        value = value * 5 + 1;
    return value;
}

static void one_round(void) {
    for (unsigned i = 0; i < coroutine_count; ++i) {
        starting = &coroutines[i];
        starting->finished = false;
        prepare_stack(starting);
        switch_to(&scheduler, &starting->context);
    }
    for (int step = 0; step < steps; ++step)
        for (unsigned i = 0; i < coroutine_count; ++i)
            switch_to(&scheduler, &coroutines[(i * 3 + 1) % coroutine_count].context);
    for (unsigned i = 0; i < coroutine_count; ++i) {
        truth_expect(coroutines[i].finished, "a coroutine did not finish");
        truth_expect(coroutines[i].result == expected_result(i), "a wrong result");
    }
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"switches\":%" PRIu64, truth_read(&rounds),
            truth_read(&switches));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "switches",
                                          .about = "leaves its stack by a switch of its own",
                                          .functions = functions,
                                          .function_count = 1,
                                          .report = report,
                                          .pause_us = 100};
    truth_start(argc, argv, &program);
    // Not before somebody may have come to look.
    switch_to = find_switch();
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round();
        truth_count(&rounds);
    }
    return truth_finish();
}
