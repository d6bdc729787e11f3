// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that is woken while it is still on its way off the CPU, and then has to wait for that
// CPU: `sleeper` waits on a futex, from deep inside calls, and `waker`, on another CPU, wakes it
// again and again until it is awake, while `hog` takes what it can of the sleeper's CPU. The calls
// are of `wait_once`; what of them was running and what waiting for a CPU is read from the kernel's
// own accounts of the thread, the rest was blocked.
#define _GNU_SOURCE
#include "common/truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t depth = 60;
static uint32_t asleep;
static bool over;
static struct { uint64_t calls, wall_ns, cpu_ns, runnable_ns; } account;

static uint64_t cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t runnable_now(int schedstat) {
    char text[128];
    uint64_t cpu = 0, delay = 0;
    const ssize_t size = pread(schedstat, text, sizeof text - 1, 0);
    if (size <= 0)
        return 0;
    text[size] = 0;
    sscanf(text, "%" SCNu64 " %" SCNu64, &cpu, &delay);
    return delay;
}

static void take_cpu(int number) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(number, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static bool is_over(void) {
    return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

TIMED uint64_t pauses(uint64_t levels) {
    if (levels > 1)
        return pauses(levels - 1) + 1;
    __atomic_store_n(&asleep, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    __atomic_store_n(&asleep, 0, __ATOMIC_RELEASE);
    return levels;
}

TIMED uint64_t wait_once(void) {
    return pauses(depth) + 1;
}

static void* wake(void* unused) {
    (void)unused;
    truth_name_thread("waker");
    take_cpu(1);
    while (!is_over()) {
        if (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

static void* hog(void* unused) {
    (void)unused;
    truth_name_thread("hog");
    take_cpu(0);
    while (!is_over())
        ;
    return NULL;
}

static void* sleeper(void* unused) {
    (void)unused;
    truth_name_thread("sleeper");
    take_cpu(0);
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    truth_expect(schedstat >= 0, "the kernel accounts run delays");
    for (uint64_t done = 0; truth_more(done); ++done) {
        const uint64_t runnable = runnable_now(schedstat), cpu = cpu_now(), start = truth_now();
        wait_once();
        truth_add(&account.wall_ns, truth_now() - start);
        truth_add(&account.cpu_ns, cpu_now() - cpu);
        truth_add(&account.runnable_ns, runnable_now(schedstat) - runnable);
        truth_count(&account.calls);
    }
    close(schedstat);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    return NULL;
}

static void report(FILE* out) {
    fprintf(out,
            ",\"wait_once\":{\"calls\":%" PRIu64 ",\"wall_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
            ",\"runnable_ns\":%" PRIu64 "}",
            truth_read(&account.calls), truth_read(&account.wall_ns), truth_read(&account.cpu_ns),
            truth_read(&account.runnable_ns));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"depth", TRUTH_NUMBER, &depth, "calls of `pauses` inside each other, 1 to 100"},
    };
    const struct truth_program program = {.name = "early_wakes",
                                          .about = "wakes a thread before it sleeps",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report};
    truth_start(argc, argv, &program);
    pthread_t threads[3];
    void* (*const bodies[3])(void*) = {sleeper, wake, hog};
    for (int i = 0; i < 3; ++i)
        if (pthread_create(&threads[i], NULL, bodies[i], NULL) != 0)
            return 1;
    for (int i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    return truth_finish();
}
