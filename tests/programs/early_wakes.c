// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that is woken while it is still on its way off the CPU, and then has to wait for that
// CPU: `sleeper` waits on a futex, from deep inside calls, and `waker`, on another CPU, wakes it
// again and again until it is awake, while `hog` takes what it can of the sleeper's CPU. The calls
// are of `wait_once`; what of them was running and what waiting for a CPU is read from the kernel's
// own accounts of the thread, the rest was blocked.
#define _GNU_SOURCE
#include "common/clocks.h"
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
#define MAX_CALLS 1000
static struct call { uint64_t wall_ns, cpu_ns, runnable_ns; } account[MAX_CALLS];
static uint64_t calls; // of which the first MAX_CALLS are told

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
    // Else it would be preferred to the hog when it is woken, since it takes next to nothing, and
    // would wait for microseconds only.
    const struct sched_param none = {0};
    truth_expect(sched_setscheduler(0, SCHED_IDLE, &none) == 0, "a thread may be idle");
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    truth_expect(schedstat >= 0, "the kernel accounts run delays");
    for (uint64_t done = 0; truth_more(done); ++done) {
        const uint64_t runnable = runnable_now(schedstat), cpu = cpu_now(), start = truth_now();
        wait_once();
        const struct call call = {truth_now() - start, cpu_now() - cpu,
                                  runnable_now(schedstat) - runnable};
        if (done < MAX_CALLS)
            account[done] = call;
        truth_count(&calls);
    }
    close(schedstat);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    return NULL;
}

static void report(FILE* out) {
    const uint64_t told = truth_read(&calls) < MAX_CALLS ? truth_read(&calls) : MAX_CALLS;
    fprintf(out, ",\"wait_once\":[");
    for (uint64_t i = 0; i < told; ++i)
        fprintf(out,
                "%s{\"wall_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 ",\"runnable_ns\":%" PRIu64 "}",
                i ? "," : "", account[i].wall_ns, account[i].cpu_ns, account[i].runnable_ns);
    fprintf(out, "]");
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
