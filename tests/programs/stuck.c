// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that get stuck inside of calls, each in its own way: receiving, waiting for a lock,
// sleeping, sleeping in nested calls and in recursive ones, and spinning. The account says which
// calls each has open, from when, outermost first; none of them ever returns.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { max_calls = 8, forever_us = 1000000000 };

// `before` is noted before the call, `inside` by its first statement.
struct open_call {
    const char* function;
    uint64_t before, inside;
};

struct stuck {
    const char* name;
    void (*get_stuck)(struct stuck*);
    pid_t tid;
    uint32_t depth; // of calls; written last
    struct open_call calls[max_calls];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int socket_ends[2];
static uint64_t spins;

static void about_to_call(struct stuck* stuck, const char* function) {
    stuck->calls[stuck->depth].function = function;
    stuck->calls[stuck->depth].before = truth_now();
}

static void is_inside(struct stuck* stuck) {
    stuck->calls[stuck->depth].inside = truth_now();
    __atomic_store_n(&stuck->depth, stuck->depth + 1, __ATOMIC_RELEASE);
}

TIMED void stuck_receive(struct stuck* stuck) {
    char byte;
    is_inside(stuck);
    truth_expect(recv(socket_ends[0], &byte, 1, 0) < 0, "something was received");
}

TIMED void stuck_lock(struct stuck* stuck) {
    is_inside(stuck);
    pthread_mutex_lock(&lock);
    truth_expect(false, "the lock was had");
}

TIMED void stuck_sleep(struct stuck* stuck) {
    is_inside(stuck);
    truth_sleep_us(forever_us);
    truth_expect(false, "the sleep ended");
}

TIMED void nested_inner(struct stuck* stuck) {
    is_inside(stuck);
    truth_sleep_us(forever_us);
    truth_expect(false, "the sleep ended");
}

TIMED void nested_outer(struct stuck* stuck) {
    is_inside(stuck);
    about_to_call(stuck, "nested_inner");
    nested_inner(stuck);
    truth_expect(false, "nested_inner returned");
}

TIMED void recursive(struct stuck* stuck, int more) {
    is_inside(stuck);
    if (more > 0) {
        about_to_call(stuck, "recursive");
        recursive(stuck, more - 1);
    } else {
        truth_sleep_us(forever_us);
    }
    truth_expect(false, "recursive returned");
}

TIMED void stuck_spin(struct stuck* stuck) {
    is_inside(stuck);
    for (;;)
        truth_count(&spins);
}

static void receiving(struct stuck* stuck) {
    about_to_call(stuck, "stuck_receive");
    stuck_receive(stuck);
}
static void locking(struct stuck* stuck) {
    about_to_call(stuck, "stuck_lock");
    stuck_lock(stuck);
}
static void sleeping(struct stuck* stuck) {
    about_to_call(stuck, "stuck_sleep");
    stuck_sleep(stuck);
}
static void nesting(struct stuck* stuck) {
    about_to_call(stuck, "nested_outer");
    nested_outer(stuck);
}
static void recursing(struct stuck* stuck) {
    about_to_call(stuck, "recursive");
    recursive(stuck, 4);
}
static void spinning(struct stuck* stuck) {
    about_to_call(stuck, "stuck_spin");
    stuck_spin(stuck);
}

static struct stuck threads[] = {
    {.name = "receives", .get_stuck = receiving}, {.name = "locks", .get_stuck = locking},
    {.name = "sleeps", .get_stuck = sleeping},    {.name = "nests", .get_stuck = nesting},
    {.name = "recurses", .get_stuck = recursing}, {.name = "spins", .get_stuck = spinning}};
enum { thread_count = sizeof threads / sizeof *threads };

static void* run(void* argument) {
    struct stuck* stuck = argument;
    truth_name_thread(stuck->name);
    stuck->tid = gettid();
    stuck->get_stuck(stuck);
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"fd\":%d,\"threads\":[", socket_ends[0]);
    for (int i = 0; i < thread_count; ++i) {
        const struct stuck* stuck = &threads[i];
        const uint32_t depth = __atomic_load_n(&stuck->depth, __ATOMIC_ACQUIRE);
        fprintf(out, "%s{\"name\":\"%s\",\"tid\":%d,\"calls\":[", i ? "," : "", stuck->name,
                (int)stuck->tid);
        for (uint32_t call = 0; call < depth; ++call)
            fprintf(out, "%s{\"function\":\"%s\",\"before\":%" PRIu64 ",\"inside\":%" PRIu64 "}",
                    call ? "," : "", stuck->calls[call].function, stuck->calls[call].before,
                    stuck->calls[call].inside);
        fprintf(out, "]}");
    }
    fprintf(out, "]");
}

int main(int argc, char** argv) {
    const struct truth_program program = {
        .name = "stuck", .about = "its threads get stuck inside of calls", .report = report};
    truth_start(argc, argv, &program);
    pthread_mutex_lock(&lock);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket_ends) != 0) {
        perror("socketpair");
        return 1;
    }
    for (int i = 0; i < thread_count; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, &threads[i]);
        pthread_detach(thread);
    }
    while (truth_running())
        truth_sleep_us(20000);
    return truth_finish();
}
