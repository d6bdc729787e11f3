// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls through pointers: one call instruction that goes to several functions, by a table, a
// member, an argument, a variable that changes, from a library, and one that is left by longjmp.
// Each site keeps an account of each function that it calls; the names in the account are probes.
#include "call_sites.h"
#include "common/remapping.h"

#include <setjmp.h>

// A site's account and its call stand on one line, which is why this file is not formatted.
// clang-format off

enum { RED, GREEN, WORK, JUMPER, DEEP, CALLEES };
enum { TABLE, MEMBER, ARGUMENT, VARIABLE, JUMPING, RECURSIVE, LIBRARY, SITES };
static const char* const callees[CALLEES] = {"red", "green", "work", "may_jump", "recursive"};
static struct call_site sites[SITES][CALLEES];
static struct truth_function functions[SITES * CALLEES];
static char names[SITES * CALLEES][64];
static jmp_buf landing;

typedef int (*handler)(int);
struct object {
    int value;
    handler handle;
};

TIMED int red(int value) {
    return value + 1;
}

TIMED int green(int value) {
    return value + 2;
}

// Negative: does not return.
TIMED int may_jump(int value) {
    if (value < 0)
        longjmp(landing, 1);
    return value + 3;
}

handler table[3] = {red, green, work};
handler variable = red; // most of the time it holds another one

static void returned(int site, int callee) {
    truth_count(&sites[site][callee].returns);
}

TIMED int by_table(int value) {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        const int which = (i * i + value) % 3;
        CALLING(sites[TABLE][which], 1); sum += table[which](i);
        returned(TABLE, which);
    }
    return sum;
}

TIMED int by_member(struct object* object, int which) {
    CALLING(sites[MEMBER][which], 1); int result = object->handle(object->value);
    returned(MEMBER, which);
    return result + 1;
}

static inline __attribute__((always_inline)) int apply(handler function, int which, int value) {
    CALLING(sites[ARGUMENT][which], 1); int result = function(value);
    returned(ARGUMENT, which);
    return result;
}

TIMED int by_argument(handler first, int a, handler second, int b) {
    return apply(first, a, 1) + apply(second, b, 2);
}

TIMED int by_variable(int which) {
    CALLING(sites[VARIABLE][which], 1); int result = variable(which);
    returned(VARIABLE, which);
    return result + 1;
}

// One instruction calls at one stack pointer: a call that is left, then one of another function.
TIMED int jumping(const handler* handlers, const int* which, const int* values, int count) {
    volatile int i = 0;
    volatile int sum = 0;
    if (setjmp(landing))
        truth_count(&sites[JUMPING][which[i++]].unwound);
    for (; i < count; i++) {
        const int now = i;
        CALLING(sites[JUMPING][which[now]], 1); sum += handlers[now](values[now]);
        returned(JUMPING, which[now]);
    }
    return sum;
}

int recursive(int depth);
int (*deeper)(int) = recursive;

TIMED int recursive(int depth) {
    if (depth == 0)
        return 0;
    CALLING(sites[RECURSIVE][DEEP], 1); int below = deeper(depth - 1);
    returned(RECURSIVE, DEEP);
    return below + 1;
}

static size_t settle_account(void) {
    size_t count = 0;
    for (int site = 0; site < SITES; site++)
        for (int callee = 0; callee < CALLEES; callee++) {
            struct call_site* account = &sites[site][callee];
            account->callee = callees[callee];
            if (!account->entries)
                continue;
            functions[count] = site_as_function(account, names[count], sizeof names[count]);
            count++;
        }
    return count;
}

int main(int argc, char** argv) {
    static bool remaps;
    static const struct truth_option options[] = {
        {"remap", TRUTH_FLAG, &remaps, "another thread changes the mappings after the first round"}};
    static struct truth_program program = {.name = "call_pointers",
                                           .about = "calls functions through pointers",
                                           .options = options,
                                           .option_count = sizeof options / sizeof *options,
                                           .functions = functions,
                                           .pause_us = 100};
    truth_start(argc, argv, &program);
    const handler order[] = {may_jump, red, may_jump, may_jump, green, may_jump, work, may_jump};
    const int which[] = {JUMPER, RED, JUMPER, JUMPER, GREEN, JUMPER, WORK, JUMPER};
    const int values[] = {-1, 1, -1, -1, 1, 1, 1, -1};
    struct object objects[] = {{1, red}, {2, green}, {3, work}};
    for (uint64_t done = 0; truth_more(done); ++done) {
        by_table((int)(done % 3));
        for (int i = 0; i < 3; i++)
            by_member(&objects[i], i);
        by_argument(red, RED, green, GREEN);
        by_argument(work, WORK, red, RED);
        for (int i = 0; i < 4; i++) {
            variable = i == 0 ? red : i == 2 ? work : green;
            by_variable(i == 0 ? RED : i == 2 ? WORK : GREEN);
        }
        for (int i = 0; i < 3; i++)
            call_back(table[i], i, &sites[LIBRARY][i]);
        jumping(order, which, values, 8);
        truth_expect(recursive(4) == 4, "recursive returned a wrong value");
        if (done == 0 && remaps)
            start_remapping();
    }
    program.function_count = settle_account();
    return truth_finish();
}
