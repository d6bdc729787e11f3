// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that work for an eighth of each period and sleep until the next one begins: what a
// sampler that is in step with them gets wrong. Each knows how long it went on, and what of it its
// CPU clock counted. They run before all ordinary threads where they may, so as to keep the beat.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

enum { thread_count = 4 };
static uint64_t period_us = 5000;
static struct account { uint64_t wall_ns, cpu_ns; } accounts[thread_count];

// Each thread's beats begin at another place of the period.
static void* beat(void* argument) {
    const uint64_t index = (uint64_t)(uintptr_t)argument, period = period_us * 1000;
    char name[16];
    snprintf(name, sizeof name, "beat-%" PRIu64, index);
    truth_name_thread(name);
    truth_run_first();
    const uint64_t start = truth_now();
    uint64_t next = start - start % period + index * period / thread_count, state = start | 1;
    while (truth_running()) {
        const uint64_t cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
        while (clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu < period / 2 / thread_count)
            for (int i = 0; i < 2000; ++i) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
            }
        const uint64_t now = truth_now();
        while (next <= now)
            next += period;
        const struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        accounts[index].wall_ns = truth_now() - start;
        accounts[index].cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"threads\":{");
    for (int i = 0; i < thread_count; ++i)
        fprintf(out, "%s\"beat-%d\":{\"wall_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}", i ? "," : "",
                i, truth_read(&accounts[i].wall_ns), truth_read(&accounts[i].cpu_ns));
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"period-us", TRUTH_NUMBER, &period_us, "from the beginning of work to the next one"},
    };
    const struct truth_program program = {.name = "metronome",
                                          .about = "works and sleeps in step with the clock",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report};
    truth_start(argc, argv, &program);
    pthread_t threads[thread_count];
    for (int t = 0; t < thread_count; ++t)
        if (pthread_create(&threads[t], NULL, beat, (void*)(uintptr_t)t) != 0)
            return 1;
    for (int t = 0; t < thread_count; ++t)
        pthread_join(threads[t], NULL);
    return truth_finish();
}
