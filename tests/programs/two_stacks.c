// SPDX-License-Identifier: GPL-3.0-or-later
//
// A call that waits on one stack while its thread works on another one, at higher addresses:
// `suspended` is called on the lower stack and switches to the upper one, where `busy` burns CPU
// time and `asleep` sleeps. The stacks lie in one mapping or, with --apart, in one each. With
// --merged the lower one is a thread's own, and the mapping is one all the same. With --remap
// another thread changes the mappings all the time.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/remapping.h"
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { stack_size = 256 * 1024 };
static bool apart, merged, remaps;
static uint64_t busy_us = 1000, sleep_us = 1000, busy_cpu_ns;
static ucontext_t main_context, lower, upper;

TIMED uint64_t busy(uint64_t state) {
    const uint64_t start = cpu_now(), end = start + busy_us * 1000;
    while (cpu_now() < end)
        for (int i = 0; i < 4000; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    truth_add(&busy_cpu_ns, cpu_now() - start);
    return state;
}

TIMED void asleep(void) {
    truth_sleep_us(sleep_us);
}

static void on_upper(void) {
    uint64_t state = 88172645463325252u;
    for (;;) {
        state = busy(state);
        asleep();
        swapcontext(&upper, &lower);
    }
}

TIMED uint64_t suspended(uint64_t value) {
    swapcontext(&lower, &upper);
    return value + 1;
}

static void suspend_often(void) {
    for (uint64_t done = 0; truth_more(done); ++done)
        suspended(done);
}

static void on_lower(void) {
    suspend_often();
    setcontext(&main_context);
}

// Whether these addresses, the lower one first, are of one mapping.
static bool share_mapping(const void* low, const void* high) {
    FILE* const maps = fopen("/proc/self/maps", "r");
    unsigned long start, end;
    bool share = false;
    while (maps && fscanf(maps, "%lx-%lx%*[^\n]", &start, &end) == 2)
        share = share || (start <= (unsigned long)low && (unsigned long)high < end);
    if (maps)
        fclose(maps);
    return share;
}

static void* on_thread(void* upper_stack) {
    truth_expect(share_mapping(__builtin_frame_address(0), upper_stack),
                 "the kernel makes one mapping of both stacks");
    if (remaps)
        start_remapping();
    suspend_often();
    return NULL;
}

static void prepare(ucontext_t* context, void* stack, void (*function)(void)) {
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = stack_size;
    context->uc_link = NULL;
    makecontext(context, function, 0);
}

static void report(FILE* out) {
    fprintf(out, ",\"busy_cpu_ns\":%" PRIu64, truth_read(&busy_cpu_ns));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"apart", TRUTH_FLAG, &apart, "a mapping for each stack"},
        {"merged", TRUTH_FLAG, &merged, "the lower one is a thread's own"},
        {"remap", TRUTH_FLAG, &remaps, "another thread changes the mappings"},
        {"busy-us", TRUTH_NUMBER, &busy_us, "CPU time of each `busy`"},
        {"sleep-us", TRUTH_NUMBER, &sleep_us, "of each `asleep`"},
    };
    const struct truth_program program = {.name = "two_stacks",
                                          .about = "works on a stack above a call that waits",
                                          .options = options,
                                          .option_count = sizeof options / sizeof *options,
                                          .report = report};
    char* memory = mmap(NULL, 3 * stack_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    truth_start(argc, argv, &program);
    if (apart && mprotect(memory + stack_size, stack_size, PROT_NONE) != 0)
        return 1;
    prepare(&lower, memory, on_lower);
    prepare(&upper, memory + 2 * stack_size, on_upper);
    if (merged) {
        // A new mapping lies below the last one.
        char* const stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        pthread_t thread;
        if (stack == MAP_FAILED)
            return 1;
        stack[0] = 1;
        prepare(&upper, stack, on_upper);
        if (pthread_create(&thread, NULL, on_thread, stack) != 0)
            return 1;
        pthread_join(thread, NULL);
        return truth_finish();
    }
    if (remaps)
        start_remapping();
    swapcontext(&main_context, &lower);
    return truth_finish();
}
