// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function that always does the same: `work` burns a fixed number of steps, at the bottom of
// --depth calls of itself. Each number that is read from standard input is answered, once so many
// calls have been made, by a line with their mean in nanoseconds by the clock around each.
//
// It runs before all ordinary threads where it may (SCHED_FIFO), and leaves the CPU alone for a
// while after each call, so that neighbours do not take the CPU away in the middle of one.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

static uint64_t depth = 1, steps = 60000, pause_us = 50;

static inline __attribute__((always_inline)) uint64_t burn(uint64_t state) {
    for (uint64_t i = 0; i < steps; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

TIMED uint64_t below(uint64_t state, uint64_t levels) {
    return levels > 1 ? below(state, levels - 1) + 1 : burn(state);
}

TIMED uint64_t work(uint64_t state) {
    return below(state, depth) + 1;
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"depth", TRUTH_NUMBER, &depth, "calls below `work`, the innermost of which does the work"},
        {"steps", TRUTH_NUMBER, &steps, "of the work, each some two nanoseconds"},
        {"rest-us", TRUTH_NUMBER, &pause_us, "between calls"},
    };
    const struct truth_program program = {.name = "fixed_work",
                                          .about = "does the same again and again",
                                          .options = options,
                                          .option_count = 3};
    truth_start(argc, argv, &program);
    const struct sched_param first = {.sched_priority = 1};
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
    uint64_t state = 88172645463325252u;
    for (char line[32]; fgets(line, sizeof line, stdin);) {
        const uint64_t count = strtoull(line, NULL, 10);
        uint64_t sum = 0;
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t start = truth_now();
            state = work(state);
            sum += truth_now() - start;
            truth_sleep_us(pause_us);
        }
        printf("%" PRIu64 "\n", count ? sum / count : 0);
        fflush(stdout);
    }
    return state == 0;
}
