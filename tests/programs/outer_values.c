// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls whose values are asked for at their end, with many more such calls inside them: each
// `outer` calls `inner` --inners times, burns --burn-us of CPU time, and returns its number or,
// every third one, -1. It knows how many of each there were, and the CPU time that they took.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <time.h>

static uint64_t inners = 40, burn_us = 2000;
static struct {
    uint64_t calls, cpu_ns;
} accounts[2]; // of calls that return their number, and of those that return -1

TIMED uint64_t inner(uint64_t number) {
    return number + 1;
}

TIMED int64_t outer(uint64_t number) {
    const uint64_t end = cpu_now() + burn_us * 1000;
    uint64_t state = number + 88172645463325252u;
    for (uint64_t i = 0; i < inners; ++i)
        state += inner(i);
    while (cpu_now() < end)
        for (int i = 0; i < 4000; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    return number % 3 == 0 ? -1 : (int64_t)(number + (state == 0));
}

static void report(FILE* out) {
    for (int negative = 0; negative < 2; ++negative)
        fprintf(out, ",\"%s\":{\"calls\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}",
                negative ? "negative" : "positive", truth_read(&accounts[negative].calls),
                truth_read(&accounts[negative].cpu_ns));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"inners", TRUTH_NUMBER, &inners, "calls of `inner` in each of `outer`"},
        {"burn-us", TRUTH_NUMBER, &burn_us, "CPU time of each `outer`"},
    };
    const struct truth_program program = {.name = "outer_values",
                                          .about = "returns numbers, from calls around calls",
                                          .options = options,
                                          .option_count = 2,
                                          .report = report};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        const uint64_t start = cpu_now();
        const int negative = outer(done) < 0;
        truth_add(&accounts[negative].cpu_ns, cpu_now() - start);
        truth_count(&accounts[negative].calls);
    }
    return truth_finish();
}
