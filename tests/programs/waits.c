// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that each spend their time in one way, inside calls of one function each: sleeping,
// spinning, waiting for a lock, reading from a pipe, and wanting a CPU that others have. What the
// calls took, what of it was running and what was waiting for a CPU, they read from the kernel's
// own accounts of the thread; the rest was blocked.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS, SPINS, LOCKS, READS, STARVES, kind_count };
static const char* const names[kind_count] = {"sleeps", "spins", "locks", "reads", "starves"};
enum { starving = 3, thread_count = kind_count - 1 + starving };

static uint64_t slice_us = 20000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int feed[2];

/* The gap is what lies between a reading of the kernel's accounts and the reading of the clock from
 * which, or to which, the call's time is counted: so far the two may be apart. */
struct account {
    uint64_t calls, wall_ns, cpu_ns, runnable_ns, gap_ns, waits, preempted, slept_ns;
};
static struct account accounts[kind_count];

static uint64_t spin_until(uint64_t end) {
    uint64_t state = end | 1;
    while (truth_now() < end)
        for (int i = 0; i < 2000; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    return state;
}

TIMED uint64_t sleeps(uint64_t end) {
    while (truth_now() < end)
        truth_sleep_us(1500);
    return end;
}
TIMED uint64_t spins(uint64_t end) {
    return spin_until(end);
}
TIMED uint64_t locks(uint64_t end) {
    while (truth_now() < end) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        // So that the holder gets it back.
        const uint64_t start = truth_now();
        truth_sleep_us(100);
        truth_add(&accounts[LOCKS].slept_ns, truth_now() - start);
    }
    return end;
}
TIMED uint64_t reads(uint64_t end) {
    char byte;
    while (truth_now() < end && read(feed[0], &byte, 1) == 1)
        ;
    return end;
}
TIMED uint64_t starves(uint64_t end) {
    return spin_until(end) + 1;
}

static uint64_t (*const bodies[kind_count])(uint64_t) = {sleeps, spins, locks, reads, starves};

// How often this thread has left a CPU: to wait, and because another one was to have it.
static struct rusage switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static void* work(void* argument) {
    const int kind = (int)(intptr_t)argument;
    struct account* mine = &accounts[kind];
    truth_name_thread(names[kind]);
    if (kind == STARVES) {
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        sched_setaffinity(0, sizeof first, &first);
    }
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    truth_expect(schedstat >= 0, "the kernel accounts run delays");
    for (uint64_t done = 0; truth_more(done); ++done) {
        const uint64_t first = truth_now();
        const struct rusage before = switches();
        const uint64_t runnable = runnable_now(schedstat);
        const uint64_t cpu = cpu_now();
        const uint64_t start = truth_now();
        bodies[kind](start + slice_us * 1000);
        const uint64_t end = truth_now();
        truth_add(&mine->cpu_ns, cpu_now() - cpu);
        truth_add(&mine->runnable_ns, runnable_now(schedstat) - runnable);
        const struct rusage after = switches();
        truth_add(&mine->gap_ns, start - first + truth_now() - end);
        truth_add(&mine->wall_ns, end - start);
        truth_add(&mine->waits, (uint64_t)(after.ru_nvcsw - before.ru_nvcsw));
        truth_add(&mine->preempted, (uint64_t)(after.ru_nivcsw - before.ru_nivcsw));
        truth_count(&mine->calls);
    }
    close(schedstat);
    return NULL;
}

static bool working = true;

// Holds the lock nearly all the time, asleep.
static void* hold(void* unused) {
    (void)unused;
    truth_name_thread("holder");
    while (__atomic_load_n(&working, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&lock);
        truth_sleep_us(4000);
        pthread_mutex_unlock(&lock);
        truth_sleep_us(20);
    }
    return NULL;
}

static void* feeder(void* unused) {
    (void)unused;
    truth_name_thread("feeder");
    while (__atomic_load_n(&working, __ATOMIC_RELAXED)) {
        truth_sleep_us(3000);
        if (write(feed[1], "x", 1) != 1)
            break;
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"kinds\":{");
    for (int kind = 0; kind < kind_count; ++kind) {
        const struct account* one = &accounts[kind];
        fprintf(out,
                "%s\"%s\":{\"calls\":%" PRIu64 ",\"wall_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
                ",\"runnable_ns\":%" PRIu64 ",\"gap_ns\":%" PRIu64 ",\"waits\":%" PRIu64
                ",\"preempted\":%" PRIu64 ",\"slept_ns\":%" PRIu64 "}",
                kind ? "," : "", names[kind], truth_read(&one->calls), truth_read(&one->wall_ns),
                truth_read(&one->cpu_ns), truth_read(&one->runnable_ns), truth_read(&one->gap_ns),
                truth_read(&one->waits), truth_read(&one->preempted), truth_read(&one->slept_ns));
    }
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"slice-us", TRUTH_NUMBER, &slice_us, "about what one call takes, 1000 to 1000000"},
    };
    const struct truth_program program = {.name = "waits",
                                          .about = "spends its time running and waiting, each "
                                                   "thread in one way",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report};
    truth_start(argc, argv, &program);
    if (slice_us < 1000 || slice_us > 1000000 || pipe(feed) != 0) {
        fprintf(stderr, "waits: --slice-us is out of range, or there is no pipe\n");
        return 2;
    }
    pthread_t holder, feeding, threads[thread_count];
    if (pthread_create(&holder, NULL, hold, NULL) != 0 ||
        pthread_create(&feeding, NULL, feeder, NULL) != 0)
        return 1;
    for (int t = 0; t < thread_count; ++t)
        if (pthread_create(&threads[t], NULL, work, (void*)(intptr_t)(t < STARVES ? t : STARVES)) !=
            0)
            return 1;
    for (int t = 0; t < thread_count; ++t)
        pthread_join(threads[t], NULL);
    __atomic_store_n(&working, false, __ATOMIC_RELAXED);
    pthread_join(holder, NULL);
    pthread_join(feeding, NULL);
    return truth_finish();
}
