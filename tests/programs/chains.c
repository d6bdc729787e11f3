// SPDX-License-Identifier: GPL-3.0-or-later
// Calls down chains of random shape and depth, one after the other, and keeps an account of them:
// which chain began when. A chain is determined by its seed, so the account is (time, seed), in a
// file that is shared with whoever wants to know. Built by several compilers in many ways; so it
// needs nothing but a C library.
//
//     chains ACCOUNT SECONDS [plain]
//
// `plain`: no chains through the C library (qsort's callback, a signal's handler).
#include "chains.h"

#include <alloca.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define SHAPE __attribute__((noinline))
#else
#define SHAPE __attribute__((noipa))
#endif

#define INLINE static inline __attribute__((always_inline))

struct chain {
    uint64_t seed;
    unsigned depth;
    unsigned shapes;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile uint64_t sink;

INLINE uint64_t work(uint64_t value, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

// No frame of its own: the case that frame pointers lose.
SHAPE uint64_t leaf(uint64_t value) {
    return work(value, 300);
}

typedef uint64_t (*shape_function)(const struct chain*, unsigned);
static shape_function volatile shapes[CHAIN_SHAPES];

INLINE uint64_t descend(const struct chain* chain, unsigned depth) {
    if (depth >= chain->depth)
        return leaf(chain->seed);
    return shapes[chain_shape(chain->seed, depth, chain->shapes)](chain, depth + 1);
}

SHAPE uint64_t shape_plain(const struct chain* chain, unsigned depth) {
    uint64_t before = work(depth, 40);
    return work(descend(chain, depth) + before, 40);
}

// A stack pointer that the compiler cannot know.
SHAPE uint64_t shape_alloca(const struct chain* chain, unsigned depth) {
    size_t size = 16 + (chain->seed + depth) % 200;
    volatile char* bytes = alloca(size);
    bytes[0] = (char)depth;
    bytes[size - 1] = (char)size;
    return work(descend(chain, depth) + (uint64_t)bytes[0], 40);
}

SHAPE uint64_t shape_large_frame(const struct chain* chain, unsigned depth) {
    volatile uint64_t words[700];
    words[depth % 700] = depth;
    words[699] = chain->seed;
    return work(descend(chain, depth) + words[depth % 700], 40);
}

// The stack pointer is aligned to more than the ABI gives: the frame's address is in another
// register, or in memory.
SHAPE uint64_t shape_realigned(const struct chain* chain, unsigned depth) {
    volatile uint64_t words[8] __attribute__((aligned(64)));
    words[depth & 7] = depth;
    return work(descend(chain, depth) + words[depth & 7], 40);
}

// ... and of unknown size besides.
SHAPE uint64_t shape_realigned_alloca(const struct chain* chain, unsigned depth) {
    volatile uint64_t words[8] __attribute__((aligned(64)));
    volatile char* bytes = alloca(32 + chain->seed % 100);
    words[depth & 7] = depth;
    bytes[3] = (char)depth;
    return work(descend(chain, depth) + words[depth & 7] + (uint64_t)bytes[3], 40);
}

// Keeps every callee-saved register in use.
SHAPE uint64_t shape_registers(const struct chain* chain, unsigned depth) {
    uint64_t a = work(depth, 3), b = work(a, 3), c = work(b, 3), d = work(c, 3), e = work(d, 3),
             f = work(e, 3), g = work(f, 3);
    uint64_t result = descend(chain, depth);
    return work(result, 40) + (a ^ b) * c + (d ^ e) * f + g;
}

// Much of it is on the stack.
SHAPE uint64_t take_many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                         const struct chain* chain, unsigned depth, uint64_t g) {
    return work(descend(chain, depth) + a + b + c + d + e + f + g, 20);
}
SHAPE uint64_t shape_arguments(const struct chain* chain, unsigned depth) {
    return take_many(1, 2, 3, 4, 5, 6, chain, depth, 7) + 1;
}

static const struct chain* sorted_chain;
static unsigned sorted_depth;
static int compare(const void* a, const void* b) {
    const struct chain* chain = sorted_chain;
    sink += descend(chain, sorted_depth);
    return *(const int*)a - *(const int*)b;
}
// Through the C library and back.
SHAPE uint64_t shape_callback(const struct chain* chain, unsigned depth) {
    int numbers[2] = {2, 1};
    sorted_chain = chain;
    sorted_depth = depth;
    qsort(numbers, 2, sizeof(numbers[0]), compare);
    return work((uint64_t)numbers[0], 40);
}

static const struct chain* signalled_chain;
static unsigned signalled_depth;
static void on_signal(int number) {
    sink += descend(signalled_chain, signalled_depth) + (uint64_t)number;
}
// Through the kernel's frame of a signal.
SHAPE uint64_t shape_signal(const struct chain* chain, unsigned depth) {
    signalled_chain = chain;
    signalled_depth = depth;
    raise(SIGUSR1);
    return work(depth, 40);
}

int main(int count, char** arguments) {
    if (count < 3)
        return 2;
    int file = open(arguments[1], O_RDWR);
    struct chain_account* account =
        mmap(NULL, sizeof(*account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || account == MAP_FAILED)
        return 1;
    const unsigned kinds = count > 3 ? CHAIN_PLAIN_SHAPES : CHAIN_SHAPES;
    shapes[0] = shape_plain;
    shapes[1] = shape_alloca;
    shapes[2] = shape_large_frame;
    shapes[3] = shape_realigned;
    shapes[4] = shape_realigned_alloca;
    shapes[5] = shape_registers;
    shapes[6] = shape_arguments;
    shapes[7] = shape_callback;
    shapes[8] = shape_signal;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, NULL);

    printf("ready\n");
    fflush(stdout);
    getchar(); // until whoever looks is ready
    const uint64_t end = now_ns() + (uint64_t)(atof(arguments[2]) * 1e9);
    uint64_t seed = 1;
    while (account->count < CHAIN_EPISODES) {
        const uint64_t now = now_ns();
        if (now >= end)
            break;
        seed = chain_mix(seed);
        struct chain chain = {seed, chain_depth(seed), kinds};
        account->episode[account->count].start_ns = now;
        account->episode[account->count].seed = seed;
        account->count++;
        for (int i = 0; i < 4; i++)
            sink += descend(&chain, 0);
    }
    return 0;
}
