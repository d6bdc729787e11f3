// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function of a shared library, called from many places, each of which keeps its own account:
// an ordinary line, a loop, a loop that the compiler unrolls, an inlined function, a macro with two
// calls on one line, the library itself, recursion, calls that are left by longjmp, calls right
// behind each other, and calls that nobody asks for. The names in the account are probes.
#include "call_sites.h"

#include <setjmp.h>

// A site's account and its call stand on one line, which is why this file is not formatted.
// clang-format off

enum { PLAIN, LOOP, UNROLLED, INLINED, MACRO, RECURSIVE, JUMPING, AGAIN, FIRST, SECOND, LIBRARY,
       WORK, COUNT };
static struct call_site sites[LIBRARY] = {
    [PLAIN] = {.callee = "work"},     [LOOP] = {.callee = "work"},
    [UNROLLED] = {.callee = "work"},  [INLINED] = {.callee = "work"},
    [MACRO] = {.callee = "work"},     [RECURSIVE] = {.callee = "recursive"},
    [JUMPING] = {.callee = "may_jump"}, [AGAIN] = {.callee = "may_jump"},
    [FIRST] = {.callee = "empty"},    [SECOND] = {.callee = "empty"}};
static struct truth_function functions[COUNT];
static char names[COUNT][64];
static uint64_t rounds;
static jmp_buf landing;

static void returned(int which, uint64_t times) {
    truth_add(&sites[which].returns, times);
}

TIMED int plain(int value) {
    CALLING(sites[PLAIN], 1); int result = work(value);
    returned(PLAIN, 1);
    return result - 1;
}

TIMED int loop(int times) {
    int sum = 0;
    for (int i = 0; i < times; i++) {
        CALLING(sites[LOOP], 1); sum += work(i);
        returned(LOOP, 1);
    }
    return sum;
}

TIMED int unrolled(int value) {
    CALLING(sites[UNROLLED], 3); for (int i = 0; i < 3; i++) value = work(value);
    returned(UNROLLED, 3);
    return value;
}

static inline __attribute__((always_inline)) int inlined(int value) {
    CALLING(sites[INLINED], 1); int result = work(value + 3);
    returned(INLINED, 1);
    return result;
}

TIMED int inlines_once(int value) {
    return inlined(value) + 1;
}

TIMED int inlines_twice(int value) {
    return inlined(value) + inlined(value + 1);
}

#define TWICE(value) (work(value) + work((value) + 1))

TIMED int macro(int value) {
    CALLING(sites[MACRO], 2); int result = TWICE(value);
    returned(MACRO, 2);
    return result;
}

TIMED int recursive(int depth) {
    if (depth == 0)
        return 0;
    CALLING(sites[RECURSIVE], 1); int below = recursive(depth - 1);
    returned(RECURSIVE, 1);
    return below + 1;
}

TIMED int may_jump(int jump) {
    if (jump)
        longjmp(landing, 1);
    return 1;
}

// The call that is left and the one behind it have the same stack pointer.
TIMED int jumping(int jump) {
    volatile int result = 0;
    if (setjmp(landing) == 0) {
        CALLING(sites[JUMPING], 1); result = may_jump(jump);
        returned(JUMPING, 1);
    } else {
        truth_count(&sites[JUMPING].unwound);
    }
    CALLING(sites[AGAIN], 1); result += may_jump(0);
    returned(AGAIN, 1);
    return result;
}

// The first call returns to the second call instruction.
TIMED void adjacent(void) {
    sites[FIRST].file = sites[SECOND].file = __FILE__;
    sites[FIRST].line = __LINE__ + 4;
    sites[SECOND].line = __LINE__ + 4;
    truth_count(&sites[FIRST].entries);
    truth_count(&sites[SECOND].entries);
    empty();
    empty();
    returned(FIRST, 1);
    returned(SECOND, 1);
}

// Calls that no probe of a site may count.
TIMED int others(int value) {
    for (int i = 0; i < 5; i++)
        value = work(value) & 0xff;
    empty();
    return value;
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%lu", truth_read(&rounds));
}

// The account prints `functions`, so they are brought up to date at the end.
static void settle_account(void) {
    for (int i = 0; i < LIBRARY; i++)
        functions[i] = site_as_function(&sites[i], names[i], sizeof names[i]);
    functions[LIBRARY] = site_as_function(&library_site, names[LIBRARY], sizeof names[LIBRARY]);
    functions[WORK] = (struct truth_function){"work", work_calls, work_calls, 0};
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "call_sites",
                                          .about = "calls one function from many lines",
                                          .functions = functions,
                                          .function_count = COUNT,
                                          .report = report,
                                          .pause_us = 100};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        const int value = (int)(done % 7);
        truth_expect(plain(value) == value * 2, "plain returned a wrong value");
        loop(value + 1);
        unrolled(value);
        inlines_once(value);
        inlines_twice(value);
        macro(value);
        truth_expect(recursive(4) == 4, "recursive returned a wrong value");
        truth_expect(jumping(done % 3 == 2) == (done % 3 == 2 ? 1 : 2), "jumping went wrong");
        adjacent();
        others(value);
        truth_expect(call_from_library(value) == value * 2 + 2, "the library went wrong");
        truth_count(&rounds);
    }
    settle_account();
    return truth_finish();
}
