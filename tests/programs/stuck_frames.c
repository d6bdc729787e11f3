// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that sleep below frames of every kind: one that is found by rbx, as in functions that
// align their stack; one of generated code, with a frame pointer; and one of generated code that
// has lost the frame pointer, behind which nobody finds the way.
#define _GNU_SOURCE
#include "common/truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { forever_us = 1000000000, spacing = 64 };

typedef void sleeper(uint64_t* sleeps);

TIMED void stuck_below(uint64_t* sleeps) {
    truth_count(sleeps);
    truth_sleep_us(forever_us);
    truth_expect(false, "the sleep ended");
}

void call_by_rbx(uint64_t* sleeps, sleeper* function);
__asm__(".type call_by_rbx, @function\n"
        "call_by_rbx:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\n"
        "mov %rsp, %rbx\n"
        ".cfi_def_cfa_register %rbx\n"
        "sub $200, %rsp\n"
        "and $-128, %rsp\n"
        "call *%rsi\n"
        "mov %rbx, %rsp\n"
        ".cfi_def_cfa_register %rsp\n"
        "pop %rbx\n"
        ".cfi_restore %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_by_rbx, . - call_by_rbx\n");

// push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret
static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
// push %rbp; mov $1,%ebp; call *%rsi; pop %rbp; ret
static const unsigned char without_frame[] = {0x55, 0xbd, 0x01, 0x00, 0x00,
                                              0x00, 0xff, 0xd6, 0x5d, 0xc3};

static struct {
    const char* name;
    void (*call)(uint64_t* sleeps, sleeper* function);
    uint64_t sleeps;
} threads[] = {{"by_rbx", call_by_rbx, 0}, {"generated", NULL, 0}, {"loses_frame", NULL, 0}};
enum { thread_count = sizeof threads / sizeof *threads };

static void generate(void) {
    unsigned char* memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    memcpy(memory + spacing, with_frame, sizeof with_frame);
    memcpy(memory + 2 * spacing, without_frame, sizeof without_frame);
    if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0) {
        perror("mprotect");
        exit(1);
    }
    for (int i = 1; i < thread_count; ++i) {
        const uintptr_t code = (uintptr_t)(memory + i * spacing);
        threads[i].call = (void (*)(uint64_t*, sleeper*))code;
    }
}

static void* run(void* argument) {
    const int i = (int)(intptr_t)argument;
    truth_name_thread(threads[i].name);
    threads[i].call(&threads[i].sleeps, stuck_below);
    return NULL;
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "stuck_frames",
                                          .about = "its threads sleep below frames of every kind",
                                          .prepare = generate};
    truth_start(argc, argv, &program);
    for (intptr_t i = 0; i < thread_count; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, (void*)i);
        pthread_detach(thread);
    }
    while (truth_running())
        truth_sleep_us(20000);
    return truth_finish();
}
