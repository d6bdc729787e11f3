// SPDX-License-Identifier: GPL-3.0-or-later
//
// Functions whose first and last instructions are more than they look: `fills_first` begins with a
// string instruction that takes all of its time, and `loads_last` loads through its argument behind
// its last jump, which in every third call is a null pointer: the handler of SIGSEGV jumps out.
#include "common/truth.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void fills_first(char* bytes, size_t size, uint64_t number);
uint64_t loads_last(const uint64_t* from, uint64_t number);
asm(R"(
    .macro function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    function fills_first
    mov %rsi, %rcx
    xor %eax, %eax
    rep stosb
    test $1, %dl
    je 1f
    xor %eax, %eax
1:  ret
    end fills_first

    function loads_last
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    cmp $-1, %rsi
    je 1f
    mov (%rdi), %rax
    pop %rbx
    .cfi_remember_state
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
1:  .cfi_restore_state
    ud2
    end loads_last
)");

enum { size = 8 << 20 };
enum { FILLS_FIRST, LOADS_LAST };
static struct truth_function functions[] = {{.name = "fills_first"}, {.name = "loads_last"}};
static uint64_t filled_ns;
static char* bytes;
static sigjmp_buf landing;

static void jump_out(int signal) {
    (void)signal;
    siglongjmp(landing, 1);
}

static void fill(uint64_t number) {
    const uint64_t start = truth_now();
    truth_count(&functions[FILLS_FIRST].entries);
    fills_first(bytes, size, number);
    truth_count(&functions[FILLS_FIRST].returns);
    truth_add(&filled_ns, truth_now() - start);
}

static void load(uint64_t number) {
    const uint64_t word = number;
    truth_count(&functions[LOADS_LAST].entries);
    if (sigsetjmp(landing, 1)) {
        truth_count(&functions[LOADS_LAST].unwound);
        return;
    }
    truth_expect(loads_last(number % 3 == 0 ? NULL : &word, number) == number, "loads_last");
    truth_count(&functions[LOADS_LAST].returns);
}

static void report(FILE* out) {
    fprintf(out, ",\"filled_ns\":%" PRIu64, truth_read(&filled_ns));
}

int main(int argc, char** argv) {
    static const struct truth_program program = {.name = "first_and_last",
                                                 .about = "work in first and last instructions",
                                                 .functions = functions,
                                                 .function_count = 2,
                                                 .report = report,
                                                 .calls = 300};
    bytes = malloc(size);
    truth_expect(bytes != NULL, "no memory");
    memset(bytes, 1, size);
    signal(SIGSEGV, jump_out);
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        fill(done);
        load(done);
    }
    return truth_finish();
}
