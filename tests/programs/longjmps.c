// SPDX-License-Identifier: GPL-3.0-or-later
//
// longjmp out of timed functions: `catcher` sets the jump and always returns; `between` and
// `jumper` are jumped over in every Nth round, `jumper` while it is several calls deep in itself.
#include "common/truth.h"

#include <inttypes.h>
#include <setjmp.h>

enum { CATCHER, BETWEEN, JUMPER };
static struct truth_function functions[] = {
    {.name = "catcher"}, {.name = "between"}, {.name = "jumper"}};
static uint64_t every = 3, depth = 3, rounds, jumps;

static jmp_buf landing;

TIMED uint64_t jumper(uint64_t level, bool jump) {
    truth_count(&functions[JUMPER].entries);
    if (level == 1 && jump) {
        truth_add(&functions[JUMPER].unwound, depth);
        longjmp(landing, 7);
    }
    const uint64_t value = level == 1 ? 1 : 1 + jumper(level - 1, jump);
    truth_count(&functions[JUMPER].returns);
    return value;
}

TIMED uint64_t between(bool jump) {
    truth_count(&functions[BETWEEN].entries);
    const uint64_t value = jumper(depth, jump) * 2;
    truth_count(&functions[BETWEEN].returns);
    return value;
}

TIMED uint64_t catcher(bool jump) {
    truth_count(&functions[CATCHER].entries);
    uint64_t value;
    if (setjmp(landing) == 0) {
        value = between(jump);
    } else {
        truth_count(&functions[BETWEEN].unwound);
        truth_count(&jumps);
        value = 0;
    }
    truth_count(&functions[CATCHER].returns);
    return value;
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"jumps\":%" PRIu64, truth_read(&rounds),
            truth_read(&jumps));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"every", TRUTH_NUMBER, &every, "jump in every Nth round; 0 is never"},
        {"depth", TRUTH_NUMBER, &depth, "calls of `jumper` that one jump leaves, 1 to 1000"},
    };
    const struct truth_program program = {.name = "longjmps",
                                          .about = "longjmps out of timed functions",
                                          .options = options,
                                          .option_count = 2,
                                          .functions = functions,
                                          .function_count = 3,
                                          .report = report,
                                          .pause_us = 100};
    truth_start(argc, argv, &program);
    if (depth < 1 || depth > 1000) {
        fprintf(stderr, "longjmps: --depth is out of range\n");
        return 2;
    }
    for (uint64_t done = 0; truth_more(done); ++done) {
        const bool jump = every && done % every == every - 1;
        truth_expect(catcher(jump) == (jump ? 0 : depth * 2), "catcher returned a wrong value");
        truth_count(&rounds);
    }
    return truth_finish();
}
