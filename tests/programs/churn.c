// SPDX-License-Identifier: GPL-3.0-or-later
//
// Short-lived threads and processes without end, each making a known number of calls.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads_per_round = 4, calls_per_thread = 5, calls_per_process = 3, exit_code = 21 };
static uint64_t rounds, threads, processes, thread_calls, process_calls;

TIMED uint64_t churn_work(uint64_t value) {
    return value * 19 + 6;
}

static bool work(uint64_t calls) {
    bool right = true;
    for (uint64_t i = 0; i < calls; ++i)
        right = churn_work(i) == i * 19 + 6 && right;
    return right;
}

static void* short_thread(void* unused) {
    (void)unused;
    truth_name_thread("short");
    truth_expect(work(calls_per_thread), "churn_work returned a wrong value to a thread");
    truth_add(&thread_calls, calls_per_thread);
    return NULL;
}

static void one_round(void) {
    pthread_t running[threads_per_round];
    unsigned started = 0;
    while (started < threads_per_round &&
           pthread_create(&running[started], NULL, short_thread, NULL) == 0)
        ++started;
    truth_expect(started == threads_per_round, "a thread could not be created");

    const pid_t pid = fork();
    if (pid == 0)
        _exit(work(calls_per_process) ? exit_code : 1);
    int status = 0;
    truth_expect(pid > 0 && waitpid(pid, &status, 0) == pid, "a process was lost");
    truth_expect(WIFEXITED(status) && WEXITSTATUS(status) == exit_code, "a process was harmed");
    truth_count(&processes);
    truth_add(&process_calls, calls_per_process);

    for (unsigned i = 0; i < started; ++i)
        pthread_join(running[i], NULL);
    truth_add(&threads, started);
}

static void report(FILE* out) {
    fprintf(out,
            ",\"rounds\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"processes\":%" PRIu64
            ",\"thread_calls\":%" PRIu64 ",\"process_calls\":%" PRIu64,
            truth_read(&rounds), truth_read(&threads), truth_read(&processes),
            truth_read(&thread_calls), truth_read(&process_calls));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "churn",
                                          .about = "makes short-lived threads and processes",
                                          .report = report,
                                          .pause_us = 1000};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round();
        truth_count(&rounds);
    }
    return truth_finish();
}
