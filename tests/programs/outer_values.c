// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls whose values are asked for at their end, with many more such calls inside them: each
// `outer` calls `inner` --inners times, burns --burn-us of CPU time, and returns its number or,
// every third one, -1. It knows how many of each there were, and writes each call's beginning and
// end to --truth FILE: before and after it, and of what is inside.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t inners = 40, burn_us = 2000;
static const char* truth_path = "";
static uint64_t calls[2]; // of calls that return their number, and of those that return -1
static struct record {
    uint64_t start, end, inside_start, inside_end; // CLOCK_MONOTONIC, ns
    int64_t result;
} * records, current;
static size_t record_count;

TIMED uint64_t inner(uint64_t number) {
    return number + 1;
}

TIMED int64_t outer(uint64_t number) {
    current.inside_start = truth_now();
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
    const int64_t result = number % 3 == 0 ? -1 : (int64_t)(number + (state == 0));
    current.inside_end = truth_now();
    return result;
}

static void write_records(void) {
    FILE* file = fopen(truth_path, "w");
    for (size_t i = 0; file && i < record_count; ++i)
        fprintf(file, "%" PRIu64 " %" PRIu64 " %d %s %" PRIu64 " %" PRIu64 "\n", records[i].start,
                records[i].end, getpid(), records[i].result < 0 ? "negative" : "positive",
                records[i].inside_start, records[i].inside_end);
    truth_expect(file && fclose(file) == 0, "the truth is written");
}

static void report(FILE* out) {
    for (int negative = 0; negative < 2; ++negative)
        fprintf(out, ",\"%s\":{\"calls\":%" PRIu64 "}", negative ? "negative" : "positive",
                truth_read(&calls[negative]));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"inners", TRUTH_NUMBER, &inners, "calls of `inner` in each of `outer`"},
        {"burn-us", TRUTH_NUMBER, &burn_us, "CPU time of each `outer`"},
        {"truth", TRUTH_TEXT, &truth_path, "file for a line a call: its beginning and its end"},
    };
    const struct truth_program program = {.name = "outer_values",
                                          .about = "returns numbers, from calls around calls",
                                          .options = options,
                                          .option_count = 3,
                                          .report = report};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        current.start = truth_now();
        current.result = outer(done);
        current.end = truth_now();
        truth_count(&calls[current.result < 0]);
        if (*truth_path) {
            records = realloc(records, (record_count + 1) * sizeof *records);
            records[record_count++] = current;
        }
    }
    if (*truth_path)
        write_records();
    return truth_finish();
}
