// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that end inside timed functions: by pthread_cancel in a sleep, by pthread_exit, and, for
// comparison, by returning. Cancelled frames have cleanup handlers, which must all run.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

enum { CANCELLED, LEAVING, RETURNING, INNER };
static struct truth_function functions[] = {{.name = "cancelled_call"},
                                            {.name = "leaving_call"},
                                            {.name = "returning_call"},
                                            {.name = "inner_call"}};
static uint64_t rounds, cleanups;

static void count_cleanup(void* function) {
    struct truth_function* which = function;
    truth_count(&cleanups);
    truth_count(&which->unwound);
}

TIMED uint64_t inner_call(bool forever) {
    truth_count(&functions[INNER].entries);
    pthread_cleanup_push(count_cleanup, &functions[INNER]);
    const struct timespec pause = {.tv_sec = forever ? 60 : 0, .tv_nsec = 100000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    pthread_cleanup_pop(0);
    truth_count(&functions[INNER].returns);
    return 11;
}

TIMED uint64_t cancelled_call(void) {
    truth_count(&functions[CANCELLED].entries);
    uint64_t value;
    pthread_cleanup_push(count_cleanup, &functions[CANCELLED]);
    value = inner_call(true) + 1;
    pthread_cleanup_pop(0);
    truth_count(&functions[CANCELLED].returns);
    return value;
}

TIMED uint64_t leaving_call(uint64_t value) {
    truth_count(&functions[LEAVING].entries);
    pthread_cleanup_push(count_cleanup, &functions[LEAVING]);
    if (value + inner_call(false) > 0)
        pthread_exit((void*)(uintptr_t)(value + 100));
    pthread_cleanup_pop(0);
    truth_count(&functions[LEAVING].returns);
    return value;
}

TIMED uint64_t returning_call(uint64_t value) {
    truth_count(&functions[RETURNING].entries);
    value += inner_call(false);
    truth_count(&functions[RETURNING].returns);
    return value;
}

static void* cancelled_thread(void* unused) {
    (void)unused;
    truth_name_thread("cancelled");
    return (void*)(uintptr_t)cancelled_call();
}

static void* leaving_thread(void* value) {
    truth_name_thread("leaving");
    return (void*)(uintptr_t)leaving_call((uintptr_t)value);
}

static void* returning_thread(void* value) {
    truth_name_thread("returning");
    return (void*)(uintptr_t)returning_call((uintptr_t)value);
}

static void one_round(uint64_t round) {
    pthread_t cancelled, leaving, returning;
    const uint64_t open_before = truth_read(&functions[CANCELLED].entries);
    const uint64_t value = round % 1000;
    if (pthread_create(&cancelled, NULL, cancelled_thread, NULL) != 0 ||
        pthread_create(&leaving, NULL, leaving_thread, (void*)(uintptr_t)value) != 0 ||
        pthread_create(&returning, NULL, returning_thread, (void*)(uintptr_t)value) != 0) {
        truth_expect(false, "a thread could not be created");
        truth_stop();
        return;
    }
    void* result = NULL;
    pthread_join(leaving, &result);
    truth_expect((uintptr_t)result == value + 100, "pthread_exit lost its value");
    pthread_join(returning, &result);
    truth_expect((uintptr_t)result == value + 11, "a thread returned a wrong value");
    while (truth_read(&functions[CANCELLED].entries) == open_before)
        truth_sleep_us(50);
    pthread_cancel(cancelled);
    pthread_join(cancelled, &result);
    truth_expect(result == PTHREAD_CANCELED, "a cancelled thread ended in another way");
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"cleanups\":%" PRIu64, truth_read(&rounds),
            truth_read(&cleanups));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "cancels",
                                          .about = "ends threads inside timed functions",
                                          .functions = functions,
                                          .function_count = 4,
                                          .report = report,
                                          .pause_us = 500};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round(done);
        truth_count(&rounds);
    }
    return truth_finish();
}
