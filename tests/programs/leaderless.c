// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program whose first thread ends before the others: before it says `ready`, or with --later once
// it was told to go on. What is left of it works below life in outer and middle.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int argument_count;
static char** arguments;
static pthread_t first_thread;
static sem_t may_leave;
static bool later;
static uint64_t calls, naps;

TIMED uint64_t worker(uint64_t ns) {
    const uint64_t end = cpu_now() + ns;
    volatile uint64_t state = 88172645463325252u;
    while (cpu_now() < end)
        for (int i = 0; i < 1000; ++i)
            state = state * 2862933555777941757u + 3037000493u;
    return state;
}

TIMED uint64_t middle(uint64_t ns) {
    return worker(ns) + 1;
}

TIMED uint64_t outer(uint64_t ns) {
    return middle(ns) + 1;
}

static void report(FILE* out) {
    fprintf(out, ",\"calls\":%" PRIu64 ",\"naps\":%" PRIu64, truth_read(&calls), truth_read(&naps));
}

static void* life(void* unused) {
    (void)unused;
    const struct truth_option options[] = {
        {"later", TRUTH_FLAG, &later, "the first thread ends when it was told to go on"},
    };
    const struct truth_program program = {.name = "leaderless",
                                          .about = "works on when its first thread has ended",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report,
                                          .calls = 100};
    if (!later)
        pthread_join(first_thread, NULL);
    truth_start(argument_count, arguments, &program);
    if (later) {
        sem_post(&may_leave);
        pthread_join(first_thread, NULL);
    }
    for (uint64_t done = 0; truth_more(done); ++done) {
        outer(5000000);
        truth_count(&calls);
        const struct timespec nap = {0, 1000000};
        nanosleep(&nap, NULL);
        truth_count(&naps);
    }
    exit(truth_finish());
}

int main(int argc, char** argv) {
    pthread_t thread;
    argument_count = argc;
    arguments = argv;
    for (int i = 1; i < argc; ++i)
        later = later || strcmp(argv[i], "--later") == 0;
    first_thread = pthread_self();
    if (sem_init(&may_leave, 0, 0) != 0 || pthread_create(&thread, NULL, life, NULL) != 0)
        return 1;
    if (later)
        while (sem_wait(&may_leave) != 0) {
        }
    pthread_exit(NULL);
}
