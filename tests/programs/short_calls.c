// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls `seldom`, of which most return at their first jump, before there is a frame. It has nothing
// that could unwind or switch stacks, so that return probes do it no harm.
#include "common/truth.h"

static struct truth_function functions[] = {{.name = "seldom"}};

static volatile uint64_t done_at_all;

TIMED void work(uint64_t value) {
    done_at_all += value;
}

TIMED void seldom(uint64_t value) {
    if (value & 7)
        return;
    work(value);
    work(value + 1);
    truth_expect(done_at_all > 0, "nothing was done");
}

int main(int argc, char** argv) {
    static const struct truth_program program = {.name = "short_calls",
                                                 .about = "most calls return at once",
                                                 .functions = functions,
                                                 .function_count = 1};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        truth_count(&functions[0].entries);
        seldom(done);
        truth_count(&functions[0].returns);
    }
    return truth_finish();
}
