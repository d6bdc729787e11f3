// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function that always does the same: `work` burns a fixed number of steps, at the bottom of
// --depth calls of itself. Each number that is read from standard input is answered, once so many
// calls have been made, by a line with their mean in nanoseconds by the clock around each.
//
// With --switches N the innermost call hands the CPU over to a partner N times, and goes on when
// that, at the bottom of --partner-depth calls of its own, has handed it back. It stays runnable
// meanwhile: all that is done at these switches holds it up. The line then ends with how often it
// left the CPU so.
//
// It runs before all ordinary threads where it may, and leaves the CPU alone for a while after each
// call, so that neighbours do not take the CPU away in the middle of one.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t depth = 1, steps = 60000, pause_us = 50, switches, partner_depth = 1;
static int partners_turn; // 1: it is, 0: it is not; below: there is no more to do

static inline __attribute__((always_inline)) uint64_t burn(uint64_t state, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

// The partner has the same priority, so it runs when this one yields, and not before.
static inline __attribute__((always_inline)) void hand_over(void) {
    __atomic_store_n(&partners_turn, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &partners_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    while (__atomic_load_n(&partners_turn, __ATOMIC_ACQUIRE))
        sched_yield();
}

TIMED uint64_t below(uint64_t state, uint64_t levels) {
    if (levels > 1)
        return below(state, levels - 1) + 1;
    for (uint64_t i = 0; i < switches; ++i) {
        state = burn(state, steps / (switches + 1));
        hand_over();
    }
    return burn(state, steps / (switches + 1));
}

TIMED uint64_t partner_below(uint64_t levels) {
    if (levels > 1)
        return partner_below(levels - 1) + 1;
    for (int turn; (turn = __atomic_load_n(&partners_turn, __ATOMIC_ACQUIRE)) >= 0;) {
        if (turn)
            __atomic_store_n(&partners_turn, 0, __ATOMIC_RELEASE);
        else
            syscall(SYS_futex, &partners_turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    return levels;
}

static void* be_partner(void* unused) {
    (void)unused;
    truth_name_thread("partner");
    return (void*)partner_below(partner_depth);
}

// On the CPU of the thread that calls, and with its priority.
static bool start_partner(void) {
    pthread_t partner;
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    return sched_setaffinity(0, sizeof here, &here) == 0 &&
           pthread_create(&partner, NULL, be_partner, NULL) == 0;
}

static uint64_t times_off_cpu(void) {
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nivcsw;
}

TIMED uint64_t work(uint64_t state) {
    return below(state, depth) + 1;
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"depth", TRUTH_NUMBER, &depth, "calls below `work`, the innermost of which does the work"},
        {"steps", TRUTH_NUMBER, &steps, "of the work, each some two nanoseconds"},
        {"rest-us", TRUTH_NUMBER, &pause_us, "between calls"},
        {"switches", TRUTH_NUMBER, &switches, "of the CPU to a partner, within the work"},
        {"partner-depth", TRUTH_NUMBER, &partner_depth, "calls below which the partner waits"},
    };
    const struct truth_program program = {.name = "fixed_work",
                                          .about = "does the same again and again",
                                          .options = options,
                                          .option_count = 5};
    truth_start(argc, argv, &program);
    truth_run_first();
    if (switches && !start_partner())
        return 1;
    uint64_t state = 88172645463325252u;
    for (char line[32]; fgets(line, sizeof line, stdin);) {
        const uint64_t count = strtoull(line, NULL, 10);
        const uint64_t off_cpu_before = times_off_cpu();
        uint64_t sum = 0;
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t start = truth_now();
            state = work(state);
            sum += truth_now() - start;
            truth_sleep_us(pause_us);
        }
        printf("%" PRIu64, count ? sum / count : 0);
        if (switches)
            printf(" %" PRIu64, times_off_cpu() - off_cpu_before);
        putchar('\n');
        fflush(stdout);
    }
    __atomic_store_n(&partners_turn, -1, __ATOMIC_RELEASE);
    return state == 0;
}
