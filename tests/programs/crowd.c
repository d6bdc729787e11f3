// SPDX-License-Identifier: GPL-3.0-or-later
//
// Many threads that mostly sleep: each in `doze` for `--sleep-us`, again and again. They know how
// often they woke, and how long they were in `doze`, all together.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

static uint64_t thread_count = 1000, sleep_us = 20000, wakes, dozed_ns;

TIMED void doze(void) {
    truth_sleep_us(sleep_us);
}

static void* live(void* unused) {
    (void)unused;
    while (truth_running()) {
        const uint64_t start = truth_now();
        doze();
        truth_add(&dozed_ns, truth_now() - start);
        truth_count(&wakes);
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"now_ns\":%" PRIu64 ",\"wakes\":%" PRIu64 ",\"dozed_ns\":%" PRIu64, truth_now(),
            truth_read(&wakes), truth_read(&dozed_ns));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"threads", TRUTH_NUMBER, &thread_count, "how many"},
        {"sleep-us", TRUTH_NUMBER, &sleep_us, "how long they sleep each time"},
    };
    const struct truth_program program = {.name = "crowd",
                                          .about = "many threads that sleep and wake",
                                          .options = options,
                                          .option_count = 2,
                                          .report = report};
    truth_start(argc, argv, &program);
    pthread_t* threads = calloc(thread_count, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (uint64_t t = 0; t < thread_count; ++t)
        if (pthread_create(&threads[t], &small, live, NULL) != 0) {
            fprintf(stderr, "crowd: a thread could not be created\n");
            return 1;
        }
    for (uint64_t t = 0; t < thread_count; ++t)
        pthread_join(threads[t], NULL);
    free(threads);
    return truth_finish();
}
