// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls functions that differ in their first instructions, or (EPILOGUES) in their last ones, a
// known number of times and times each by itself. Tests look at counts and sums, benches at
// "ns_per_call" with --function NAME --calls N.
#include "common/truth.h"

#include <inttypes.h>
#include <string.h>

typedef uint64_t function_type(uint64_t a, uint64_t b);

#ifdef EPILOGUES
#define NAME "epilogues"
#define FUNCTIONS(f)                                                                               \
    f(leaves_guarded) f(leaves_either_way) f(leaves_joined) f(leaves_by_frame) f(leaves_a_loop)    \
        f(leaves_after_a_call) f(leaves_half_after_a_call) f(leaves_at_the_entry)                  \
            f(leaves_after_a_string) f(leaves_through_a_table) f(leaves_by_a_pointer)              \
                f(leaves_again) f(leaves_to_another) f(leaves_behind_padding)
#else
#define NAME "prologues"
#define FUNCTIONS(f)                                                                               \
    f(starts_push) f(starts_endbr) f(starts_sub) f(starts_nop5) f(starts_mov) f(starts_endbr_nop5) \
        f(inner_nop5) f(loops_to_nop) f(pushes_late) f(returns_twice) f(starts_xchg)
#endif
// By an instruction of AVX.
#define VECTOR_FUNCTIONS(f) f(starts_vpcmpeq) f(starts_vcmp)

#define DECLARE(function) function_type function;
FUNCTIONS(DECLARE)
#ifndef EPILOGUES
VECTOR_FUNCTIONS(DECLARE)
#endif

enum { batch = 1000 };

static struct {
    const char* name;
    function_type* call;
    uint64_t calls, sum, spent_ns;
} functions[] = {
#define ROW(function) {#function, function, 0, 0, 0},
    FUNCTIONS(ROW)
#ifndef EPILOGUES
        VECTOR_FUNCTIONS(ROW)
#endif
};
enum { function_count = sizeof functions / sizeof *functions };
static const char* only;

static uint64_t argument_b(uint64_t a) {
    return a ^ 0x5555;
}

static uint64_t calls_of_itself(size_t which, uint64_t begin, uint64_t end) {
    uint64_t calls = 0;
    if (strcmp(functions[which].name, "leaves_again") == 0)
        for (uint64_t a = begin; a < end; ++a)
            calls += a >> 3 & 1;
    return calls;
}

// Calls in batches: the clock and the flag to stop are looked at between them.
static void run(size_t which, uint64_t calls) {
    uint64_t done = 0;
    if (strncmp(functions[which].name, "starts_v", 8) == 0 && !__builtin_cpu_supports("avx"))
        return;
    while (done < calls && truth_running()) {
        const uint64_t end = calls - done < batch ? calls : done + batch;
        uint64_t sum = 0, expected = 0;
        const uint64_t start = truth_now();
        for (uint64_t a = done; a < end; ++a)
            sum += functions[which].call(a, argument_b(a));
        const uint64_t spent = truth_now() - start;
        for (uint64_t a = done; a < end; ++a)
            expected += 3 * a + argument_b(a);
        truth_expect(sum == expected, functions[which].name);
        truth_add(&functions[which].calls, end - done + calls_of_itself(which, done, end));
        truth_add(&functions[which].sum, sum);
        truth_add(&functions[which].spent_ns, spent);
        done = end;
        if (done < calls && truth_pause_us())
            truth_sleep_us(truth_pause_us());
    }
}

static void report(FILE* out) {
    fprintf(out, ",\"functions\":{");
    bool first = true;
    for (size_t i = 0; i < function_count; ++i) {
        if (only && strcmp(functions[i].name, only) != 0)
            continue;
        const uint64_t calls = truth_read(&functions[i].calls);
        const uint64_t spent = truth_read(&functions[i].spent_ns);
        fprintf(out, "%s\"%s\":{\"calls\":%" PRIu64 ",\"sum\":%" PRIu64 ",\"ns_per_call\":%.3f}",
                first ? "" : ",", functions[i].name, calls, truth_read(&functions[i].sum),
                calls ? (double)spent / (double)calls : 0.0);
        first = false;
    }
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"function", TRUTH_TEXT, &only, "call only this one"},
    };
    const struct truth_program program = {.name = NAME,
                                          .about = "calls functions of every beginning, or end; "
                                                   "--calls is for each of them, and --pause-us "
                                                   "comes after every 1000",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report,
                                          .calls = 10000};
    truth_start(argc, argv, &program);
    bool known = !only;
    for (size_t i = 0; i < function_count; ++i)
        known = known || strcmp(functions[i].name, only) == 0;
    if (!known) {
        fprintf(stderr, NAME ": %s: no such function\n", only);
        return 2;
    }
    const uint64_t calls = truth_calls() ? truth_calls() : UINT64_MAX;
    for (size_t i = 0; i < function_count; ++i)
        if (!only || strcmp(functions[i].name, only) == 0)
            run(i, calls);
    return truth_finish();
}
