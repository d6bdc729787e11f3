// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions of assembly without sizes, with constants behind and between them (data_in_text_asm.S).
// A breakpoint in one of the constants is a wrong result.
#include "common/truth.h"

#include <inttypes.h>

uint64_t looks_up(uint64_t index);
uint64_t jumps_over_data(uint64_t value);

static struct truth_function functions[] = {{.name = "looks_up"}, {.name = "jumps_over_data"}};

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "data_in_text",
                                          .about = "calls functions that have data beside them",
                                          .functions = functions,
                                          .function_count = 2};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        truth_count(&functions[0].entries);
        truth_expect(looks_up(done % 4) == (done % 4 % 2 ? 0xc3c3c3c3c3c3c3c3 : 0xc3905d5590c35d55),
                     "a constant behind a function has another value");
        truth_count(&functions[0].returns);
        truth_count(&functions[1].entries);
        truth_expect(jumps_over_data(done) == (done ^ 0xc3905d5590c35d55),
                     "a constant within a function has another value");
        truth_count(&functions[1].returns);
    }
    return truth_finish();
}
