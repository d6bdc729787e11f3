// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls two functions of the same instructions, of which `leaves_first` returns at its first
// conditional jump and `leaves_last` passes three before it does. They are called in turns, some
// times each, and timed by the thread's own CPU clock: "ns_per_call" has the median of each.
#include "common/truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

void leaves_first(uint64_t way);
void leaves_last(uint64_t way);
asm(R"(
    .macro leaves name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    cmp $0, %rdi
    je 1f
    cmp $1, %rdi
    je 1f
    cmp $2, %rdi
    je 1f
    nop
1:  pop %rbx
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    leaves leaves_first
    leaves leaves_last
)");

enum { batch = 20, most_batches = 5000 };

static struct {
    struct truth_function* account;
    void (*call)(uint64_t);
    uint64_t way; // 0: is left at the first jump, 3: behind the third
    uint64_t batches;
    uint64_t ns[most_batches];
} timed[2];
static struct truth_function functions[] = {{.name = "leaves_first"}, {.name = "leaves_last"}};

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void run(size_t which) {
    const uint64_t start = clock_ns();
    for (int i = 0; i < batch; ++i)
        timed[which].call(timed[which].way);
    timed[which].ns[timed[which].batches++ % most_batches] = clock_ns() - start;
    truth_add(&timed[which].account->entries, batch);
    truth_add(&timed[which].account->returns, batch);
}

static int compare(const void* a, const void* b) {
    const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static double median(size_t which) {
    const uint64_t count =
        timed[which].batches < most_batches ? timed[which].batches : most_batches;
    if (!count)
        return 0;
    qsort(timed[which].ns, count, sizeof *timed[which].ns, compare);
    return (double)timed[which].ns[count / 2] / batch;
}

static void report(FILE* out) {
    fprintf(out, ",\"ns_per_call\":{\"leaves_first\":%.1f,\"leaves_last\":%.1f}", median(0),
            median(1));
}

int main(int argc, char** argv) {
    static const struct truth_program program = {.name = "passed_jumps",
                                                 .about = "jumps that are passed on the way out",
                                                 .functions = functions,
                                                 .function_count = 2,
                                                 .report = report,
                                                 .calls = 1000};
    timed[0].call = leaves_first;
    timed[1].call = leaves_last;
    timed[1].way = 3;
    for (size_t i = 0; i < 2; ++i)
        timed[i].account = &functions[i];
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        run(0);
        run(1);
    }
    return truth_finish();
}
