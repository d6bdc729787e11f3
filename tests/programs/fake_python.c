// SPDX-License-Identifier: GPL-3.0-or-later
/* Looks like CPython 3.11, and is none: what walks and names read of it leads in circles, to
 * addresses that nobody may read, to pages that are gone, and is another thing all the time. Each
 * thread has a state whose id is right, and stays in `work`, in whose frame the boundary is; that
 * named `deep` is true: 64 frames of `fake`; that named `tasks` likewise, of coroutines that await
 * each other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where 3.11 has its fields; see loader/runtimes/python/layout.cpp. */
enum { INTERPRETERS = 40, NEXT = 0, THREADS = 16 };
enum { THREAD_NEXT = 8, THREAD_ID = 152, THREAD_CFRAME = 56 };
enum { CFRAME_FRAME = 8, CFRAME_PREVIOUS = 16 };
enum {
    FRAME_CODE = 32,
    FRAME_PREVIOUS = 48,
    FRAME_INSTRUCTION = 56,
    FRAME_IS_ENTRY = 68,
    FRAME_OWNER = 69
};
enum {
    CODE_FLAGS = 48,
    CODE_LINE = 72,
    CODE_FILE = 112,
    CODE_NAME = 128,
    CODE_LINES = 136,
    CODE_BYTES = 184
};
enum { TEXT_LENGTH = 16, TEXT_STATE = 32, TEXT_ASCII = 48 };

struct object {
    alignas(16) char bytes[512];
};

__attribute__((section(".PyRuntime"), used)) struct object _PyRuntime = {.bytes = {1}};
__attribute__((used)) const uint32_t Py_Version = 0x030b07f0;

static void put(struct object* object, unsigned offset, uint64_t word) {
    memcpy(object->bytes + offset, &word, sizeof word);
}
static uint64_t address(const void* object) {
    return (uint64_t)object;
}

enum { KINDS = 10, FRAMES = 64 };
static const char* const kinds[KINDS] = {"circle",  "self",    "kernel",  "unmapped", "long name",
                                         "changes", "tangled", "cframes", "deep",     "tasks"};

struct worker {
    pthread_t thread;
    struct object state, cframe[2], frames[FRAMES], code, name, file, lines;
    volatile uint64_t rounds;
};
static struct worker workers[KINDS];
static struct object interpreters[3];
static volatile int ended;
static void* gone; /* a page that is no longer */

static void make_text(struct object* text, uint64_t length, const char* characters) {
    put(text, TEXT_LENGTH, length);
    put(text, TEXT_STATE, 1u << 2 | 1u << 5 | 1u << 6);
    strcpy(text->bytes + TEXT_ASCII, characters);
}

static const uint64_t entry = 1ull << 8 * (FRAME_IS_ENTRY & 7);

static void make_frames(struct worker* worker) {
    make_text(&worker->name, 4, "fake");
    make_text(&worker->file, 7, "fake.py");
    put(&worker->lines, TEXT_LENGTH, 2);
    put(&worker->code, CODE_LINE, 7);
    put(&worker->code, CODE_FILE, address(&worker->file));
    put(&worker->code, CODE_NAME, address(&worker->name));
    put(&worker->code, CODE_LINES, address(&worker->lines));
    for (int i = 0; i < FRAMES; i++) {
        struct object* frame = &worker->frames[i];
        put(frame, FRAME_CODE, address(&worker->code));
        put(frame, FRAME_INSTRUCTION, address(&worker->code) + CODE_BYTES);
        put(frame, FRAME_PREVIOUS, i + 1 < FRAMES ? address(frame + 1) : 0);
        put(frame, FRAME_IS_ENTRY & ~7u, i + 1 < FRAMES ? 0 : entry);
    }
}

static void spoil(struct worker* worker, int kind) {
    struct object* frames = worker->frames;
    switch (kind) {
    case 0:
        put(&frames[FRAMES - 1], FRAME_PREVIOUS, address(&frames[0]));
        put(&frames[FRAMES - 1], FRAME_IS_ENTRY & ~7u, 0);
        break;
    case 1:
        put(&frames[0], FRAME_PREVIOUS, address(&frames[0]));
        put(&frames[0], FRAME_IS_ENTRY & ~7u, entry);
        put(worker->cframe, CFRAME_PREVIOUS, address(worker->cframe));
        break;
    case 2:
        put(&frames[1], FRAME_PREVIOUS, 0xffff888000000000ull);
        put(&frames[0], FRAME_CODE, 0xffffffff81000000ull);
        break;
    case 3:
        put(&frames[1], FRAME_PREVIOUS, address(gone));
        put(&frames[0], FRAME_CODE, address(gone) + 8);
        break;
    case 4:
        put(&worker->name, TEXT_LENGTH, 1ull << 60);
        put(&worker->file, TEXT_LENGTH, ~0ull);
        put(&worker->lines, TEXT_LENGTH, 1ull << 60);
        break;
    case 6: /* each frame ends a loop's, whose cframe is the same one */
        for (int i = 0; i < FRAMES; i++)
            put(&frames[i], FRAME_IS_ENTRY & ~7u, entry);
        put(worker->cframe, CFRAME_PREVIOUS, address(worker->cframe));
        break;
    case 7:
        put(worker->cframe, CFRAME_FRAME, 0xfffffffffffffff8ull);
        break;
    case 9:
        for (int i = 0; i < FRAMES; i++)
            put(&frames[i], FRAME_IS_ENTRY & ~7u,
                1ull << 8 * (FRAME_OWNER & 7) | (i + 1 < FRAMES ? 0 : entry));
        put(&worker->code, CODE_FLAGS, 0x80);
        break;
    default:
        break;
    }
}

__attribute__((noinline)) static void innermost(struct worker* worker) {
    for (int i = 0; i < 1000; i++)
        worker->rounds++;
}

__attribute__((noinline)) static void work(struct worker* worker, int kind) {
    struct object boundary = worker->cframe[0];
    if (kind != 7)
        put(&worker->state, THREAD_CFRAME, address(&boundary));
    if (kind == 6 || kind == 1)
        put(&boundary, CFRAME_PREVIOUS, address(&boundary));
    __asm__ volatile("" : : "r"(&boundary) : "memory");
    while (!ended) {
        for (int i = 0; i < 300; i++)
            innermost(worker);
        usleep(5000);
    }
}

static void* run(void* argument) {
    struct worker* worker = argument;
    const int kind = (int)(worker - workers);
    pthread_setname_np(pthread_self(), kinds[kind]);
    make_frames(worker);
    put(&worker->cframe[0], CFRAME_FRAME, address(&worker->frames[0]));
    spoil(worker, kind);
    put(&worker->state, THREAD_CFRAME, address(&worker->cframe[0]));
    put(&worker->state, THREAD_ID, address((void*)pthread_self()));
    work(worker, kind);
    return NULL;
}

/* Of the worker whose frames are others all the time. */
static void* rewrite(void* argument) {
    struct worker* worker = argument;
    uint64_t seed = 1;
    while (!ended) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const unsigned which = seed >> 33 & (FRAMES - 1), field = seed >> 40 & 3;
        const uint64_t values[] = {address(&worker->frames[seed >> 50 & (FRAMES - 1)]), seed,
                                   address(gone), address(&worker->code)};
        put(&worker->frames[which], field & 1 ? FRAME_PREVIOUS : FRAME_CODE,
            values[seed >> 60 & 3]);
        put(&worker->code, field & 2 ? CODE_NAME : CODE_FILE,
            seed >> 62 ? address(&worker->name) : seed);
        put(&worker->name, TEXT_LENGTH, seed);
        if (seed >> 50 == 0)
            usleep(1000);
    }
    return NULL;
}

int main(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    gone = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, page);
    /* Interpreters in a circle. */
    put(&_PyRuntime, INTERPRETERS, address(&interpreters[0]));
    for (int i = 0; i < 3; i++) {
        put(&interpreters[i], NEXT, address(&interpreters[(i + 1) % 3]));
        put(&interpreters[i], THREADS, address(&workers[i * 3].state));
    }
    for (int i = 0; i < KINDS; i++) {
        const int last =
            i == 2 || i == 5; /* of their interpreters; the third one's go on for ever */
        put(&workers[i].state, THREAD_NEXT,
            last ? 0 : address(&workers[i == KINDS - 1 ? 6 : i + 1].state));
    }
    for (int i = 0; i < KINDS; i++)
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    pthread_t writer;
    pthread_create(&writer, NULL, rewrite, &workers[5]);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (getchar() != '\n')
        ;
    ended = 1;
    for (int i = 0; i < KINDS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_join(writer, NULL);
    uint64_t least = ~0ull;
    for (int i = 0; i < KINDS; i++)
        least = workers[i].rounds < least ? workers[i].rounds : least;
    printf("{\"program\":\"fake_python\",\"ok\":true,\"least\":%llu}\n", (unsigned long long)least);
    return 0;
}
