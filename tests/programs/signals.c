// SPDX-License-Identifier: GPL-3.0-or-later
//
// A signal handler on an alternate stack calls timed functions while calls of the same functions
// are open on the ordinary stack. Signals come at a known place (raise) and, with --timer-us, at
// any instruction. With --jump-every the handler leaves by siglongjmp.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

enum { INTERRUPTED, SHARED, IN_HANDLER };
static struct truth_function functions[] = {
    {.name = "interrupted"}, {.name = "shared"}, {.name = "in_handler"}};
static uint64_t rounds, raised, ticks, jumps, timer_us, jump_every;
static bool jump_now;
static sigjmp_buf landing;
static char alternate_stack[64 * 1024] __attribute__((aligned(64)));

// Called from both stacks, also while it is open on the other one.
TIMED uint64_t shared(uint64_t value, bool raise_inside) {
    truth_count(&functions[SHARED].entries);
    if (raise_inside) {
        truth_count(&raised);
        raise(SIGRTMIN);
    }
    truth_count(&functions[SHARED].returns);
    return value * 3 + 1;
}

TIMED uint64_t in_handler(uint64_t value) {
    truth_count(&functions[IN_HANDLER].entries);
    const uint64_t result = shared(value, false) + 1;
    if (jump_now) {
        truth_count(&functions[IN_HANDLER].unwound);
        siglongjmp(landing, 1);
    }
    truth_count(&functions[IN_HANDLER].returns);
    return result;
}

TIMED uint64_t interrupted(uint64_t value) {
    truth_count(&functions[INTERRUPTED].entries);
    const uint64_t result = shared(value, true) * 2;
    truth_count(&functions[INTERRUPTED].returns);
    return result;
}

static void handle_raised(int signal) {
    (void)signal;
    truth_expect(in_handler(5) == 17, "in_handler returned a wrong value");
}

static void handle_tick(int signal) {
    (void)signal;
    truth_count(&ticks);
    truth_expect(shared(6, false) == 19, "shared returned a wrong value to the timer's handler");
}

static void install(int signal, void (*handler)(int)) {
    // Neither interrupts the other, so a jump out of one never skips the other.
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaddset(&action.sa_mask, SIGALRM);
    sigaddset(&action.sa_mask, SIGRTMIN);
    if (sigaction(signal, &action, NULL) != 0) {
        perror("signals: sigaction");
        exit(1);
    }
}

static void one_round(uint64_t round) {
    jump_now = jump_every && round % jump_every == jump_every - 1;
    if (sigsetjmp(landing, 1) == 0) {
        truth_expect(interrupted(round) == (round * 3 + 1) * 2, "interrupted went wrong");
        return;
    }
    truth_count(&jumps);
    truth_count(&functions[SHARED].unwound);
    truth_count(&functions[INTERRUPTED].unwound);
}

static void report(FILE* out) {
    fprintf(out,
            ",\"rounds\":%" PRIu64 ",\"raised\":%" PRIu64 ",\"ticks\":%" PRIu64
            ",\"jumps\":%" PRIu64,
            truth_read(&rounds), truth_read(&raised), truth_read(&ticks), truth_read(&jumps));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"timer-us", TRUTH_NUMBER, &timer_us, "also a timer's signal each so often; 0 is never"},
        {"jump-every", TRUTH_NUMBER, &jump_every,
         "leave the handler by siglongjmp in every Nth round; 0 is never"},
    };
    const struct truth_program program = {.name = "signals",
                                          .about = "calls timed functions on a signal stack",
                                          .options = options,
                                          .option_count = 2,
                                          .functions = functions,
                                          .function_count = 3,
                                          .report = report,
                                          .pause_us = 100};
    const stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    truth_start(argc, argv, &program);
    if (sigaltstack(&stack, NULL) != 0) {
        perror("signals: sigaltstack");
        return 1;
    }
    install(SIGRTMIN, handle_raised);
    install(SIGALRM, handle_tick);
    const struct timeval period = {.tv_sec = (time_t)(timer_us / 1000000),
                                   .tv_usec = (suseconds_t)(timer_us % 1000000)};
    const struct itimerval timer = {.it_interval = period, .it_value = period};
    setitimer(ITIMER_REAL, &timer, NULL);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round(done);
        truth_count(&rounds);
    }
    const struct itimerval never = {.it_value = {0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return truth_finish();
}
