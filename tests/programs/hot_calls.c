// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that calls `hot`, which does next to nothing, as often as it can, with `--work` steps of
// arithmetic in between: how many calls it gets done in a second of its CPU time says what a probe
// takes of it. With `--exit`, what it calls is leaves_half_after_a_call (epilogues_asm.S), which it
// leaves each time by a jump right behind its beginning (early), or by the `ret` behind a call
// (late).
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { calls_between_looks = 64 };
static uint64_t work, calls;
static const char* way_out;

uint64_t leaves_half_after_a_call(uint64_t a, uint64_t b);
static pthread_t thread;

// Not less: what only returns cannot be timed.
TIMED uint64_t hot(uint64_t state) {
    return state + 1; // BODY hot
}

static void* call(void* unused) {
    uint64_t state = 88172645463325252u;
    // Odd numbers leave early.
    const uint64_t a = way_out && strcmp(way_out, "early") == 0 ? 1 : 4;
    (void)unused;
    truth_name_thread("caller");
    while (truth_running()) {
        for (int i = 0; i < calls_between_looks; ++i) {
            for (uint64_t step = 0; step < work; ++step) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
            }
            state = way_out ? leaves_half_after_a_call(a, state) - 3 * a : hot(state) - 1;
        }
        truth_add(&calls, calls_between_looks);
    }
    truth_expect(state != 0, "xorshift has no zero");
    return NULL;
}

static void report(FILE* out) {
    clockid_t clock;
    struct timespec now = {0};
    if (pthread_getcpuclockid(thread, &clock) == 0)
        clock_gettime(clock, &now);
    fprintf(out, ",\"calls\":%" PRIu64 ",\"cpu_ns\":%" PRIu64, truth_read(&calls),
            (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"work", TRUTH_NUMBER, &work, "steps of arithmetic before each call"},
        {"exit", TRUTH_TEXT, &way_out, "early or late: call what leaves that way"},
    };
    const struct truth_program program = {.name = "hot_calls",
                                          .about = "calls a function without pause",
                                          .options = options,
                                          .option_count = 2,
                                          .report = report};
    truth_start(argc, argv, &program);
    thread = pthread_self();
    call(NULL);
    return truth_finish();
}
