// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the benches observe. It does what single lines on its standard input ask for and answers
// each with one number, measured by its own thread's CPU clock, so that neighbours on a busy
// machine count as little as possible:
//   call FUNCTION COUNT   ns a call of one of tests/programs/prologues_asm.S, epilogues_asm.S
//   site SITE COUNT       ns a call from one of the lines numbered below
//   work MILLISECONDS FRAMES   steps per CPU second, for so much CPU time, in a stack of so many
//                         frames (7 to 125), each of another function
//   switch COUNT FRAMES   ns a context switch of two threads that hand a byte back and forth on
//                         one CPU, below so many frames
#define _GNU_SOURCE
#include <auger.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t function_type(uint64_t a, uint64_t b);
function_type starts_push, starts_endbr, starts_sub, starts_nop5, starts_mov, leaves_guarded;

// A span's beginning and end as a program marks them, around what is there without them, too.
static volatile uint64_t something;
static __attribute__((noipa)) uint64_t unmarked(uint64_t a, uint64_t b) {
    return something + a + b;
}
static __attribute__((noipa)) uint64_t marked(uint64_t a, uint64_t b) {
    AUGER_SPAN_BEGIN(marked, a);
    const uint64_t sum = something + a + b;
    AUGER_SPAN_END(marked, a);
    return sum;
}

static const struct {
    const char* name;
    function_type* call;
} functions[] = {
    {"starts_push", starts_push}, {"starts_endbr", starts_endbr}, {"starts_sub", starts_sub},
    {"starts_nop5", starts_nop5}, {"starts_mov", starts_mov},     {"unmarked", unmarked},
    {"marked", marked},           {"leaves_guarded", leaves_guarded},
};

static uint64_t cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double ns_per_call(function_type* function, uint64_t count) {
    static volatile uint64_t sink;
    const uint64_t start = cpu_now();
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; ++i)
        sum += function(i, sum);
    sink = sum;
    return (double)(cpu_now() - start) / (double)count;
}

static function_type* volatile pointer;

// Call sites, with line numbers for benches to name.
// clang-format off
static __attribute__((noipa)) uint64_t call_here(uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i)
#line 1001
        sum += starts_push(i, sum);
    return sum;
}

static __attribute__((noipa)) uint64_t call_elsewhere(uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i)
#line 1002
        sum += starts_push(i, sum);
    return sum;
}

static __attribute__((noipa)) uint64_t call_pointer(uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i)
#line 1003
        sum += pointer(i, sum);
    return sum;
}
#line 2000
// clang-format on

static double ns_per_site_call(const char* site, uint64_t count) {
    static volatile uint64_t sink;
    const bool pointer_is_other = strcmp(site, "pointer_elsewhere") == 0;
    pointer = pointer_is_other ? starts_mov : starts_push;
    uint64_t (*call)(uint64_t) = strcmp(site, "here") == 0        ? call_here
                                 : strcmp(site, "elsewhere") == 0 ? call_elsewhere
                                                                  : call_pointer;
    const uint64_t start = cpu_now();
    sink = call(count);
    return (double)(cpu_now() - start) / (double)count;
}

// A step is 4,000 rounds of xorshift; between steps the clock is looked at.
static __attribute__((noipa)) double spin(uint64_t duration_ns) {
    static volatile uint64_t state = 88172645463325252u;
    const uint64_t start = cpu_now();
    uint64_t steps = 0, spent = 0, x = state;

    do {
        for (int i = 0; i < 4000; ++i) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        ++steps;
        spent = cpu_now() - start;
    } while (spent < duration_ns);
    state = x;
    return (double)steps * 1e9 / (double)spent;
}

// Functions with different frames, each of which calls the one before it.
typedef double link_type(uint64_t duration_ns, int below);
static link_type* const links[];

#define LINK(tens, ones)                                                                           \
    static __attribute__((noipa)) double link_##tens##_##ones(uint64_t duration_ns, int below) {   \
        volatile char room[8 + 16 * (ones) + (tens)];                                              \
        room[ones] = 0;                                                                            \
        return room[ones] +                                                                        \
               (below > 0 ? links[below - 1](duration_ns, below - 1) : spin(duration_ns));         \
    }
#define NAME(tens, ones) link_##tens##_##ones,
#define TEN(DO, tens)                                                                              \
    DO(tens, 0)                                                                                    \
    DO(tens, 1) DO(tens, 2) DO(tens, 3) DO(tens, 4) DO(tens, 5) DO(tens, 6) DO(tens, 7)            \
        DO(tens, 8) DO(tens, 9)
#define EACH(DO)                                                                                   \
    TEN(DO, 0)                                                                                     \
    TEN(DO, 1) TEN(DO, 2) TEN(DO, 3) TEN(DO, 4) TEN(DO, 5) TEN(DO, 6) TEN(DO, 7) TEN(DO, 8)        \
        TEN(DO, 9) TEN(DO, 10) TEN(DO, 11)
EACH(LINK)
static link_type* const links[] = {EACH(NAME)};

// Above the links are main and three frames of its caller's, below them spin.
static double work(uint64_t duration_ns, int frames) {
    const int last = frames - 6;
    return last < 0 || last >= (int)(sizeof links / sizeof *links) ? -1
                                                                   : links[last](duration_ns, last);
}

static int there[2], back[2];

// From `first` to `second` and so on; 0 ends it.
static __attribute__((noipa)) uint64_t pass(int from, int to, uint64_t count, int frames) {
    char byte = 1;

    if (frames > 0)
        return pass(from, to, count, frames - 1) + 1;
    for (uint64_t i = 0; i < count; ++i)
        if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
            break;
    return 0;
}

struct hand {
    uint64_t count;
    int frames;
};

static void stay_on_one_cpu(void) {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
    sched_setaffinity(0, sizeof last, &last);
}

static void* other_hand(void* argument) {
    const struct hand* hand = argument;
    stay_on_one_cpu();
    pass(there[0], back[1], hand->count, hand->frames);
    return NULL;
}

static double ns_per_switch(uint64_t count, int frames) {
    struct hand hand = {count, frames};
    struct timespec now;
    pthread_t other;
    char byte = 1;

    if (pipe(there) != 0 || pipe(back) != 0 || pthread_create(&other, NULL, other_hand, &hand) != 0)
        return -1;
    stay_on_one_cpu();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const double start = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
    if (write(there[1], &byte, 1) == 1)
        pass(back[0], there[1], count, frames);
    pthread_join(other, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const double spent = (double)now.tv_sec * 1e9 + (double)now.tv_nsec - start;
    for (int i = 0; i < 2; ++i) {
        close(there[i]);
        close(back[i]);
    }
    return spent / (2 * (double)count);
}

int main(void) {
    char line[256], name[64];
    uint64_t number;
    int frames;

    while (fgets(line, sizeof line, stdin)) {
        double answer = -1;
        if (sscanf(line, "call %63s %" SCNu64, name, &number) == 2) {
            for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
                if (strcmp(functions[i].name, name) == 0)
                    answer = ns_per_call(functions[i].call, number);
        } else if (sscanf(line, "site %63s %" SCNu64, name, &number) == 2) {
            answer = ns_per_site_call(name, number);
        } else if (sscanf(line, "work %" SCNu64 " %d", &number, &frames) == 2) {
            answer = work(number * 1000000, frames);
        } else if (sscanf(line, "switch %" SCNu64 " %d", &number, &frames) == 2) {
            answer = ns_per_switch(number, frames);
        }
        printf("%.3f\n", answer);
        fflush(stdout);
    }
    return 0;
}
