// SPDX-License-Identifier: GPL-3.0-or-later
//
// Machine code without a file: two functions written into memory, named in /tmp/perf-PID.map as
// just-in-time compilers do, with frame pointers. `jit_alpha` gets three times the work of
// `jit_beta`, whose caller keeps the address of data in rbp: of bytes that look as if a call stood
// before it.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t jit_function(uint64_t times);

// push %rbp; mov %rsp,%rbp; xor %eax,%eax; 1: add $3,%rax; dec %rdi; jne 1b; pop %rbp; ret
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x48, 0x83, 0xc0,
                                     0x03, 0x48, 0xff, 0xcf, 0x75, 0xf7, 0x5d, 0xc3};
enum { spacing = 64, beta_times = 200000 };

uint64_t call_with_rbp(uint64_t times, jit_function* function, const void* rbp);
__asm__(".type call_with_rbp, @function\n"
        "call_with_rbp:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "mov %rdx, %rbp\n"
        "call *%rsi\n"
        "pop %rbp\n"
        ".cfi_restore %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_with_rbp, . - call_with_rbp\n");

// call rel32 before the last byte.
static const unsigned char like_code[] = {0, 0, 0, 0xe8, 0, 0, 0, 0, 0};

static uint64_t call_as_compiled(uint64_t times, jit_function* function, const void* rbp) {
    (void)rbp;
    return function(times);
}

static struct {
    const char* name;
    uint64_t (*caller)(uint64_t times, jit_function* function, const void* rbp);
    jit_function* call;
    uint64_t times, calls, cpu_ns;
} functions[] = {{"jit_alpha", call_as_compiled, NULL, 3 * beta_times, 0, 0},
                 {"jit_beta", call_with_rbp, NULL, beta_times, 0, 0}};
enum { function_count = sizeof functions / sizeof *functions };
static char map_path[64];
static bool keep_map;

static _Noreturn void fail(const char* subject) {
    fprintf(stderr, "jit: ");
    perror(subject);
    exit(1);
}

static void emit(void) {
    unsigned char* memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("memory");
    for (int i = 0; i < function_count; ++i) {
        memcpy(memory + i * spacing, code, sizeof code);
        functions[i].call = (jit_function*)(uintptr_t)(memory + i * spacing);
    }
    if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0)
        fail("executable memory");
}

static void write_map(void) {
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    unlink(map_path); // of an earlier process with this number
    const int fd = open(map_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE* out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        fail(map_path);
    for (int i = 0; i < function_count; ++i)
        fprintf(out, "%" PRIxPTR " %zx %s\n", (uintptr_t)functions[i].call, sizeof code,
                functions[i].name);
    fclose(out);
}

static void prepare(void) {
    emit();
    write_map();
}

TIMED void run_jit(void) {
    for (int i = 0; i < function_count; ++i) {
        const uint64_t start = cpu_now();
        const uint64_t value = functions[i].caller(functions[i].times, functions[i].call,
                                                   &like_code[sizeof like_code - 1]);
        truth_add(&functions[i].cpu_ns, cpu_now() - start);
        truth_count(&functions[i].calls);
        truth_expect(value == functions[i].times * 3, "generated code returned a wrong value");
    }
}

static void report(FILE* out) {
    fprintf(out, ",\"map\":\"%s\",\"jit\":{", map_path);
    for (int i = 0; i < function_count; ++i)
        fprintf(out, "%s\"%s\":{\"calls\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}", i ? "," : "",
                functions[i].name, truth_read(&functions[i].calls),
                truth_read(&functions[i].cpu_ns));
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"keep-map", TRUTH_FLAG, &keep_map, "leave the perf map file behind"},
    };
    const struct truth_program program = {.name = "jit",
                                          .about = "runs generated code with a perf map file",
                                          .options = options,
                                          .option_count = 1,
                                          .report = report,
                                          .prepare = prepare,
                                          .pause_us = 1000};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done)
        run_jit();
    const int code_of_exit = truth_finish();
    if (!keep_map)
        unlink(map_path);
    return code_of_exit;
}
