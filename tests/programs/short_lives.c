// SPDX-License-Identifier: GPL-3.0-or-later
//
// short_lives COUNT: executes itself COUNT times, one after the other. Each child works for two
// milliseconds, below main in outer, middle and worker, and ends: it is gone before anybody who
// looks from outside could have read its mappings.
#define _GNU_SOURCE
#include "common/truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

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

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return outer(2000000) == 0;
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 1;
    for (int i = 0; i < count; ++i) {
        const pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            execl("/proc/self/exe", "short_lives", "child", (char*)NULL);
            _exit(127);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}
