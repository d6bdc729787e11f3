// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls the 1,000 functions of libmany_functions.so: fn_NNNN is called NNNN % 7 + 1 times in each
// round, so the count of each follows from the number of rounds.
#include "common/truth.h"

#include <inttypes.h>

extern uint64_t (*const many_functions[1000])(uint64_t);

static uint64_t rounds, calls;

static void one_round(uint64_t round) {
    uint64_t sum = 0, expected = 0, made = 0;
    for (uint64_t i = 0; i < 1000; ++i)
        for (uint64_t times = 0; times <= i % 7; ++times) {
            sum += many_functions[i](round + times);
            expected += (round + times) * (2 * i + 3) + i;
            ++made;
        }
    truth_expect(sum == expected, "a function returned a wrong value");
    truth_add(&calls, made);
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"calls\":%" PRIu64, truth_read(&rounds),
            truth_read(&calls));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "many_functions",
                                          .about = "calls 1,000 functions of a shared library",
                                          .report = report,
                                          .pause_us = 1000};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round(done);
        truth_count(&rounds);
    }
    return truth_finish();
}
