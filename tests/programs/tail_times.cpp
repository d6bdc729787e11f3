// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions that do nothing but jump to one that takes a millisecond: in the same file, in another
// library, at the end of a chain, or one that throws; and two that are called through pointers
// only. What a call takes is measured around it.
#include "common/truth.h"

#include <cinttypes>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

enum { FORWARD, CHAIN, OUTWARD, THROWING, SLEEPER, POINTED, POINTED_THROWING };
static truth_function functions[] = {
    {"forward", 0, 0, 0}, {"chain", 0, 0, 0},   {"outward", 0, 0, 0},         {"throwing", 0, 0, 0},
    {"sleeper", 0, 0, 0}, {"pointed", 0, 0, 0}, {"pointed_throwing", 0, 0, 0}};
enum { function_count = sizeof functions / sizeof *functions, sleep_us = 1000 };
static uint64_t longest[function_count];
static bool option_no_throws;
static volatile uint64_t sink;

static uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

extern "C" {

TIMED int sleeper(int value) {
    truth_count(&functions[SLEEPER].entries);
    usleep(sleep_us);
    sink = sink + 1;
    truth_count(&functions[SLEEPER].returns);
    return value + 1;
}

TIMED int forward(int value) {
    sink = sink + 1;
    return sleeper(value * 2); // TAIL sleeper
}

TIMED int chain(int value) {
    sink = sink + 1;
    return forward(value + 3); // TAIL forward
}

TIMED int outward(int us) {
    sink = sink + 1;
    return usleep(us); // TAIL usleep
}

TIMED int thrower(int value) {
    usleep(sleep_us);
    sink = sink + 1;
    if (value % 2)
        throw std::runtime_error("as intended");
    return value;
}

TIMED int throwing(int value) {
    sink = sink + 1;
    return thrower(value); // TAIL thrower
}

TIMED int pointed(int value) {
    sink = sink + 1;
    return forward(value + 1);
}

TIMED int pointed_throwing(int value) {
    sink = sink + 1;
    return thrower(value + 2);
}
}

static int (*volatile const pointers[])(int) = {pointed, pointed_throwing};

static void report(FILE* out) {
    fprintf(out, ",\"shortest_ns\":%d,\"longest_ns\":{", sleep_us * 1000);
    for (int i = 0; i < function_count; i++)
        fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", functions[i].name, longest[i]);
    fprintf(out, "}");
}

// Counts the call, and measures it with what it jumps to.
template <typename Call>
static void measure(int which, Call call) {
    const uint64_t begin = now_ns();
    if (which != SLEEPER)
        truth_count(&functions[which].entries);
    call();
    const uint64_t took = now_ns() - begin;
    if (took > longest[which])
        longest[which] = took;
}

int main(int argc, char** argv) {
    truth_program program = {};
    program.name = "tail_times";
    program.about = "jumps to functions that take their time";
    program.functions = functions;
    program.function_count = function_count;
    program.report = report;
    const truth_option options[] = {
        {"no-throws", TRUTH_FLAG, &option_no_throws, "leave out what throws"},
    };
    program.options = options;
    program.option_count = std::size(options);
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        const int value = static_cast<int>(done & 0xffff);
        measure(FORWARD, [&] { truth_expect(forward(value) == value * 2 + 1, "forward"); });
        truth_count(&functions[FORWARD].returns);
        measure(CHAIN, [&] { truth_expect(chain(value) == value * 2 + 7, "chain"); });
        truth_count(&functions[CHAIN].returns);
        truth_count(&functions[FORWARD].entries);
        truth_count(&functions[FORWARD].returns);
        measure(OUTWARD, [&] { truth_expect(outward(sleep_us) == 0, "outward"); });
        truth_count(&functions[OUTWARD].returns);
        if (!option_no_throws)
            measure(THROWING, [&] {
                try {
                    truth_expect(throwing(value) == value && value % 2 == 0, "throwing");
                    truth_count(&functions[THROWING].returns);
                } catch (const std::runtime_error&) {
                    truth_count(&functions[THROWING].unwound);
                }
            });
        measure(POINTED, [&] { truth_expect(pointers[0](value) == value * 2 + 3, "pointed"); });
        truth_count(&functions[POINTED].returns);
        truth_count(&functions[FORWARD].entries);
        truth_count(&functions[FORWARD].returns);
        if (!option_no_throws)
            measure(POINTED_THROWING, [&] {
                try {
                    truth_expect(pointers[1](value) == value + 2 && value % 2 == 0, "pointed");
                    truth_count(&functions[POINTED_THROWING].returns);
                } catch (const std::runtime_error&) {
                    truth_count(&functions[POINTED_THROWING].unwound);
                }
            });
        measure(SLEEPER, [&] { truth_expect(sleeper(1) == 2, "sleeper"); });
    }
    return truth_finish();
}
