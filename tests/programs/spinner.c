// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that spend 70, 20 and 10 % of their CPU time in `hot`, `warm` and `cold`, measured by
// each thread's own CPU clock: what a sampler should find.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { max_threads = 64, steps_between_looks = 4000 };
enum { HOT, WARM, COLD, function_count };
static const char* const names[function_count] = {"hot", "warm", "cold"};
static const uint64_t percents[function_count] = {70, 20, 10};
static uint64_t thread_count = 1, load_percent = 50, slice_us = 10000;

struct spinner {
    pthread_t thread;
    uint64_t calls[function_count], cpu_ns[function_count];
    uint64_t state;
};
static struct spinner spinners[max_threads];

// Inlined into each of the three, so that the samples are theirs. The thread's clock is a system
// call, so it is looked at only now and then.
static inline __attribute__((always_inline)) uint64_t burn(uint64_t state, uint64_t until) {
    while (cpu_now() < until)
        for (int i = 0; i < steps_between_looks; ++i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    return state;
}

TIMED uint64_t hot(uint64_t state, uint64_t until) {
    return burn(state, until);
}
TIMED uint64_t warm(uint64_t state, uint64_t until) {
    return burn(state, until) + 1;
}
TIMED uint64_t cold(uint64_t state, uint64_t until) {
    return burn(state, until) + 2;
}

static uint64_t (*const bodies[function_count])(uint64_t, uint64_t) = {hot, warm, cold};

// Works off its share of the slice; what one slice overshoots, the next ones make up for.
TIMED void spin_slice(struct spinner* self, uint64_t slice) {
    for (int which = 0; which < function_count; ++which) {
        const uint64_t due = slice * slice_us * 10 * percents[which];
        const uint64_t spent = self->cpu_ns[which];
        if (spent >= due)
            continue;
        const uint64_t start = cpu_now();
        self->state = bodies[which](self->state, start + due - spent);
        truth_add(&self->cpu_ns[which], cpu_now() - start);
        truth_count(&self->calls[which]);
    }
}

static void* spin(void* argument) {
    struct spinner* self = argument;
    char name[16];
    snprintf(name, sizeof name, "spin-%u", (unsigned)(self - spinners));
    truth_name_thread(name);
    self->state = 88172645463325252u + (uint64_t)(self - spinners);
    const uint64_t idle_us = slice_us * 100 / load_percent - slice_us;
    for (uint64_t done = 0; truth_more(done); ++done) {
        spin_slice(self, done + 1);
        if (idle_us)
            truth_sleep_us(idle_us);
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"threads\":[");
    for (uint64_t t = 0; t < thread_count && t < max_threads; ++t) {
        fprintf(out, "%s{\"name\":\"spin-%" PRIu64 "\"", t ? "," : "", t);
        for (int which = 0; which < function_count; ++which)
            fprintf(out, ",\"%s\":{\"calls\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}", names[which],
                    truth_read(&spinners[t].calls[which]), truth_read(&spinners[t].cpu_ns[which]));
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"threads", TRUTH_NUMBER, &thread_count, "threads, 1 to 64"},
        {"load", TRUTH_NUMBER, &load_percent, "percent of a CPU that each thread takes, 1 to 100"},
        {"slice-us", TRUTH_NUMBER, &slice_us, "CPU time of one round, 1000 to 1000000"},
    };
    const struct truth_program program = {.name = "spinner",
                                          .about = "spends CPU time in known shares",
                                          .options = options,
                                          .option_count = 3,
                                          .report = report};
    truth_start(argc, argv, &program);
    if (thread_count < 1 || thread_count > max_threads || load_percent < 1 || load_percent > 100 ||
        slice_us < 1000 || slice_us > 1000000) {
        fprintf(stderr, "spinner: --threads, --load or --slice-us is out of range\n");
        return 2;
    }
    for (uint64_t t = 0; t < thread_count; ++t)
        if (pthread_create(&spinners[t].thread, NULL, spin, &spinners[t]) != 0) {
            fprintf(stderr, "spinner: a thread could not be created\n");
            return 1;
        }
    for (uint64_t t = 0; t < thread_count; ++t)
        pthread_join(spinners[t].thread, NULL);
    return truth_finish();
}
