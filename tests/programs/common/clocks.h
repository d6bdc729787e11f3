// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel's clocks of a thread, ns, and how often it waited.
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t clock_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// For how long this thread has run.
static inline uint64_t cpu_now(void) {
    return clock_now(CLOCK_THREAD_CPUTIME_ID);
}

// For how long this thread was ready to run and had no CPU. `schedstat` is its /proc file.
static inline uint64_t runnable_now(int schedstat) {
    char text[128];
    uint64_t cpu = 0, delay = 0;
    const ssize_t size = pread(schedstat, text, sizeof text - 1, 0);
    if (size <= 0)
        return 0;
    text[size] = 0;
    sscanf(text, "%" SCNu64 " %" SCNu64, &cpu, &delay);
    return delay;
}

// How often this thread has left its CPU to wait for something.
static inline uint64_t waits_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw;
}
