// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions that end by jumping to another one, compiled with -foptimize-sibling-calls, and two
// in assembly for jumps that the compiler will not promise: a conditional one, and one to the
// function's own first instruction. `switcher` has indirect jumps that do not leave it.
//
// "entries" counts every way in; "returns" says how the function ended: its own `ret` or the jump
// that left it, both of which end the call.
#include "common/truth.h"

#include <inttypes.h>
#include <unistd.h>

enum { FIRST, SECOND, THIRD, DISPATCH, LEFT, RIGHT, CONDITIONAL, SELF_TAIL, SWITCHER, OUTWARD };
static struct truth_function functions[] = {
    {.name = "first"},    {.name = "second"}, {.name = "third"},       {.name = "dispatch"},
    {.name = "left"},     {.name = "right"},  {.name = "conditional"}, {.name = "self_tail"},
    {.name = "switcher"}, {.name = "outward"}};
enum { function_count = sizeof functions / sizeof *functions };
static uint64_t rounds, self_jumps, conditional_jumps;

// tailcalls_asm.S: jumps to `third` when `value` is odd, else returns value * 2.
uint64_t conditional(uint64_t value);
// tailcalls_asm.S: jumps to its own start until `times` is 0, adding 2 to `value` each time.
uint64_t self_tail(uint64_t times, uint64_t value);

// A jump that leaves and a return end a call alike, so each is counted once it is certain.
static void count_call(int which) {
    truth_count(&functions[which].entries);
    truth_count(&functions[which].returns);
}

TIMED uint64_t third(uint64_t value) {
    count_call(THIRD);
    return value * 7 + 3;
}

TIMED uint64_t second(uint64_t value) {
    count_call(SECOND);
    return third(value + 2); // TAIL third
}

TIMED uint64_t first(uint64_t value) {
    count_call(FIRST);
    return second(value + 1);
}

TIMED uint64_t left(uint64_t value) {
    count_call(LEFT);
    return value + 1000;
}

TIMED uint64_t right(uint64_t value) {
    count_call(RIGHT);
    return value + 2000;
}

static uint64_t (*volatile const choices[2])(uint64_t) = {left, right};

// Jumps through a pointer.
TIMED uint64_t dispatch(uint64_t value) {
    count_call(DISPATCH);
    return choices[value % 2](value);
}

static volatile uint64_t sink;

// Called by a pointer only, it jumps into another file.
TIMED int outward(unsigned microseconds) {
    sink += microseconds;
    count_call(OUTWARD);
    return usleep(microseconds);
}

static int (*volatile const pointer)(unsigned) = outward;

TIMED uint64_t switcher(uint64_t value) {
    count_call(SWITCHER);
    switch (value % 8) {
    case 0:
        sink = value;
        return 5;
    case 1:
        sink += 3;
        return sink - sink + 17;
    case 2:
        sink ^= value;
        break;
    case 3:
        sink = value << 2;
        return value + 1;
    case 4:
        sink -= value;
        return value * 9;
    case 5:
        sink |= 8;
        break;
    case 6:
        sink &= value;
        return value / 2;
    case 7:
        sink = 1;
        return value ^ 0x55;
    }
    return value * 3;
}

static uint64_t expected_switch(uint64_t value) {
    const uint64_t by_case[8] = {5,         17,        value * 3, value + 1,
                                 value * 9, value * 3, value / 2, value ^ 0x55};
    return by_case[value % 8];
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"self_jumps\":%" PRIu64, truth_read(&rounds),
            truth_read(&self_jumps));
    // Calls that ended by a jump; those of the others ended by a return.
    fprintf(out,
            ",\"jumped\":{\"first\":%" PRIu64 ",\"second\":%" PRIu64 ",\"dispatch\":%" PRIu64
            ",\"conditional\":%" PRIu64 ",\"self_tail\":%" PRIu64 "}",
            truth_read(&functions[FIRST].entries), truth_read(&functions[SECOND].entries),
            truth_read(&functions[DISPATCH].entries), truth_read(&conditional_jumps),
            truth_read(&self_jumps));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "tailcalls",
                                          .about = "ends functions by jumps to other functions",
                                          .functions = functions,
                                          .function_count = function_count,
                                          .report = report,
                                          .pause_us = 100};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        truth_expect(first(done) == (done + 3) * 7 + 3, "first returned a wrong value");
        truth_expect(pointer(0) == 0, "outward went wrong");
        truth_expect(dispatch(done) == done + (done % 2 ? 2000 : 1000), "dispatch went wrong");
        truth_expect(switcher(done) == expected_switch(done), "switcher returned a wrong value");

        count_call(CONDITIONAL);
        truth_add(&conditional_jumps, done % 2);
        const uint64_t value = conditional(done);
        truth_expect(value == (done % 2 ? done * 7 + 3 : done * 2), "conditional went wrong");

        const uint64_t times = done % 5;
        count_call(SELF_TAIL);
        truth_add(&self_jumps, times);
        truth_expect(self_tail(times, done) == done + times * 2, "self_tail went wrong");
        truth_count(&rounds);
    }
    return truth_finish();
}
