// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls of `handle` that do not all take as long, and what they are made of by the program's own
// clock: `parse` takes its time always, `lookup` reads from `disk` now and then, which sleeps,
// `render` takes as long as it likes, `descend` calls itself. Every `--jump-every`-th call leaves
// `jumper` by longjmp, every `--again-every`-th calls `handle` within.
//
// Own time of a function is what passes inside it, less what passes inside the functions that it
// calls. A profiler sees a call from somewhere between just before it and its first instruction to
// somewhere between its last and just after it: the sum of these gaps in a call, `gap`, is how far
// the two may be apart. It runs before all ordinary threads where it may: what waits for a CPU
// there is in the gap.
#include "common/truth.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>

enum part { HANDLE, PARSE, LOOKUP, DISK, RENDER, DESCEND, parts };
static const char* const names[parts] = {"handle", "parse", "lookup", "disk", "render", "descend"};

enum { most_calls = 1 << 20 };

// Of one call of `handle`.
struct call {
    uint64_t duration, gap;
    uint64_t self[parts];
};
static struct call* calls;
static uint64_t handled, jumped, again, read_from_disk;
static uint64_t option_jump_every, option_again_every, option_unit_us = 100, option_disk_every = 10;
static double option_disk_units = 500;

static struct call current;
static uint64_t inner_ns; // what passed inside functions that the present one has called
static unsigned random_state = 1;
static jmp_buf way_out;

static unsigned next_random(unsigned below) {
    random_state = random_state * 1664525 + 1013904223;
    return (unsigned)((uint64_t)(random_state >> 8) * below >> 24);
}

#define ENTER()                                                                                    \
    uint64_t entered = truth_now(), outside_ns = inner_ns;                                         \
    inner_ns = 0

#define LEAVE(part)                                                                                \
    do {                                                                                           \
        uint64_t inside = truth_now() - entered;                                                   \
        current.self[part] += inside - inner_ns;                                                   \
        inner_ns = outside_ns + inside;                                                            \
    } while (0)

#define AROUND(call)                                                                               \
    do {                                                                                           \
        uint64_t begin = truth_now(), before = inner_ns;                                           \
        call;                                                                                      \
        current.gap += truth_now() - begin - (inner_ns - before);                                  \
    } while (0)

TIMED void parse(void) {
    ENTER();
    truth_spin_us(20 * option_unit_us);
    LEAVE(PARSE);
}

TIMED void disk(void) {
    ENTER();
    read_from_disk++; // PLACE
    truth_sleep_us((uint64_t)(option_disk_units * (double)option_unit_us *
                              (0.2 + 1.6 * next_random(1000) / 1000)));
    LEAVE(DISK);
}

TIMED void lookup(void) {
    ENTER();
    truth_spin_us(option_unit_us);
    if (next_random((unsigned)option_disk_every) == 0)
        AROUND(disk());
    LEAVE(LOOKUP);
}

TIMED void render(void) {
    ENTER();
    truth_spin_us(next_random(40) * option_unit_us);
    LEAVE(RENDER);
}

TIMED void descend(int levels) {
    ENTER();
    truth_spin_us(option_unit_us);
    if (levels > 1)
        AROUND(descend(levels - 1));
    LEAVE(DESCEND);
}

TIMED void jumper(void) {
    jumped++;
    longjmp(way_out, 1);
}

TIMED void handle(uint64_t number, bool within) {
    ENTER();
    AROUND(parse());
    AROUND(lookup());
    AROUND(render());
    AROUND(descend(3));
    if (!within && option_again_every && number % option_again_every == 1) {
        again++;
        AROUND(handle(number, true));
    }
    if (!within && option_jump_every && number % option_jump_every == 0 && setjmp(way_out) == 0)
        jumper();
    LEAVE(HANDLE);
}

static double square_root(double value) {
    double root = value > 1 ? value : 1;
    for (int i = 0; i < 100; i++)
        root = (root + value / root) / 2;
    return root;
}

// Of calls in which nothing was left by a jump.
static void report(FILE* out) {
    uint64_t count = 0;
    double mean = 0, square = 0, gap = 0;
    for (uint64_t i = 0; i < handled; i++) {
        if (!calls[i].duration)
            continue;
        count++;
        mean += (double)calls[i].duration;
        gap += (double)calls[i].gap * (double)calls[i].gap;
    }
    mean /= (double)(count ? count : 1);
    for (uint64_t i = 0; i < handled; i++)
        if (calls[i].duration)
            square += ((double)calls[i].duration - mean) * ((double)calls[i].duration - mean);
    fprintf(out,
            ",\"handled\":%" PRIu64 ",\"jumped\":%" PRIu64 ",\"again\":%" PRIu64
            ",\"read_from_disk\":%" PRIu64 ",\"told\":%" PRIu64
            ",\"mean\":%.1f,\"deviation\":%.1f,\"gap\":%.1f,\"parts\":{",
            handled, jumped, again, read_from_disk, count, mean,
            square_root(square / (double)(count ? count : 1)),
            square_root(gap / (double)(count ? count : 1)));
    for (int part = 0; part < parts; part++) {
        double self = 0, product = 0;
        for (uint64_t i = 0; i < handled; i++)
            if (calls[i].duration)
                self += (double)calls[i].self[part] / (double)count;
        double own_square = 0;
        for (uint64_t i = 0; i < handled; i++)
            if (calls[i].duration) {
                const double deviation = (double)calls[i].self[part] - self;
                product += deviation * ((double)calls[i].duration - mean);
                own_square += deviation * deviation;
            }
        fprintf(out, "%s\"%s\":{\"mean\":%.1f,\"deviation\":%.1f,\"variance\":%.6f}",
                part ? "," : "", names[part], self,
                square_root(own_square / (double)(count ? count : 1)),
                square > 0 ? product / square : 0);
    }
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    static const struct truth_option options[] = {
        {"jump-every", TRUTH_NUMBER, &option_jump_every, "leave every so manieth call's jumper"},
        {"again-every", TRUTH_NUMBER, &option_again_every, "handle within every so manieth call"},
        {"unit-us", TRUTH_NUMBER, &option_unit_us, "what all times are multiples of"},
        {"disk-every", TRUTH_NUMBER, &option_disk_every, "one in so many lookups reads from disk"},
        {"disk-units", TRUTH_DECIMAL, &option_disk_units, "that takes so many units on average"},
    };
    static const struct truth_program program = {
        .name = "parts",
        .about = "calls that are made of parts, which do not always take as long",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .report = report,
    };
    calls = calloc(most_calls, sizeof *calls);
    truth_start(argc, argv, &program);
    truth_expect(calls != NULL, "no memory");
    truth_run_first();
    for (uint64_t done = 0; calls && done < most_calls && truth_more(done); done++) {
        current = (struct call){0};
        const uint64_t jumped_before = jumped;
        inner_ns = 0;
        AROUND(handle(done, false));
        // Of the time in a call that was left nothing is known.
        if (jumped == jumped_before)
            current.duration = inner_ns;
        calls[done] = current;
        handled = done + 1;
    }
    return truth_finish();
}
