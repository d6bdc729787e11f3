// SPDX-License-Identifier: GPL-3.0-or-later
//
// What every observed program shares: options, the ready line, waiting for the observer, and its
// own account of what it did, printed as one line of JSON. The account is kept with the program's
// own counters and clock, so that a test can hold the profiler against it.
//
// Signals: SIGUSR1 prints the account so far ("final":false), SIGUSR2 means "go on" to a waiting
// program, SIGTERM and SIGINT end it in good order. All four are taken by one thread, `truth`, so
// no other thread ever sees an interrupted system call because of them.
#ifndef AUGER_TESTS_PROGRAMS_COMMON_TRUTH_H
#define AUGER_TESTS_PROGRAMS_COMMON_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// For functions that tests probe: called as written, never inlined, cloned or folded together.
#ifdef __clang__
#define TIMED __attribute__((noinline))
#else
#define TIMED __attribute__((noipa))
#endif

// What happened to one function: `unwound` counts calls that ended by any way but a return.
struct truth_function {
    const char* name;
    uint64_t entries;
    uint64_t returns;
    uint64_t unwound;
};

static inline void truth_count(uint64_t* counter) {
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
static inline void truth_add(uint64_t* counter, uint64_t amount) {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}
static inline uint64_t truth_read(const uint64_t* counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

enum truth_kind { TRUTH_FLAG, TRUTH_NUMBER, TRUTH_DECIMAL, TRUTH_TEXT };

// `value` points to a bool, uint64_t, double or const char*, by kind, holding the default.
struct truth_option {
    const char* name;
    enum truth_kind kind;
    void* value;
    const char* help;
};

struct truth_program {
    const char* name;
    const char* about;
    const struct truth_option* options;
    size_t option_count;
    struct truth_function* functions; // printed as "functions":{NAME:{...}}
    size_t function_count;
    void (*report)(FILE* out); // further fields, each written as `,"key":value`; may be null
    void (*prepare)(void);     // done once the options are known, before `ready`; may be null
    uint64_t pause_us;         // default of --pause-us
    uint64_t calls;            // default of --calls; 0 is no limit
};

// CLOCK_MONOTONIC in nanoseconds.
uint64_t truth_now(void);

// Parses the command line (exits with 2 when it is bad), prints `ready PID`, waits if asked to.
void truth_start(int argc, char** argv, const struct truth_program* program);

// Whether to go round once more after `done` rounds: --calls, --seconds and signals decide. Pauses
// for --pause-us between rounds.
bool truth_more(uint64_t done);

// The same without pause or limit of calls.
bool truth_running(void);
void truth_stop(void);
uint64_t truth_calls(void);
uint64_t truth_pause_us(void);

// Waits for a line on standard input or SIGUSR2. Gives up, with exit code 1, after two minutes.
void truth_wait(void);

// An integrity check: a failure is printed as "ok":false with its text and makes the exit code 1.
void truth_expect(bool holds, const char* what);

void truth_name_thread(const char* name);
// The thread runs before all ordinary ones where it may (SCHED_FIFO). It has to leave the CPU alone
// now and then: who takes 95 % of one second is held up for the rest of it.
void truth_run_first(void);
void truth_sleep_us(uint64_t microseconds);
// For so much CPU time of the thread.
void truth_spin_us(uint64_t microseconds);

// To be called first in a forked child: the child has no `truth` thread to take signals.
void truth_in_child(void);

// Prints the account now; `final` marks the last one.
void truth_print(bool final);

// Prints the final account, lingers if asked to, and returns the exit code.
int truth_finish(void);

#ifdef __cplusplus
}
#endif

#endif
