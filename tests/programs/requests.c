// SPDX-License-Identifier: GPL-3.0-or-later
//
// Requests that are not one call on one thread: worker threads take them from one queue, do a step
// of one and put it back, so that each is worked for by several threads in turn and waits in
// between. Every twentieth is difficult: it takes more steps, and some of them think hard. The
// program times each of them itself: `inside` from behind open_request() to before close_request(),
// `around` with these calls, so that what a profiler says of it lies between the two; and the time
// within its steps. With `--loop` one thread does all of it, as an event loop does.
//
// With `--churn` all threads open and close what they like, without a lock: 16 requests, of which
// many are open already, or closed. With `--flood N` one thread opens N of them, which are more
// than anybody can keep, and closes them; and that twice.
//
// Not in any request: closes of what was never opened (`--stray`), requests that are given up and
// whose memory is another one's then (`--abandon`), requests that nobody ends (`--forget`).
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    most_workers = 16,
    interleaved = 64,
    steps = 4,
    difficult_steps = 16,
    light_us = 20,
    hard_us = 1500
};

struct request {
    uint64_t id;
    char name[32]; // no other open one's
    unsigned steps_left, rests;
    uint64_t before_ns, opened_ns, worked_ns;
    struct request* next;
};

static uint64_t workers = 4, stray, abandon, forget;
static bool loop, churn;
static uint64_t flood;
static uint64_t churn_opens, churn_closes;
static uint64_t opened, closed, difficult, strays, abandoned, forgotten;
static uint64_t inside_ns, around_ns, worked_ns, longest_inside_ns, longest_around_ns;
static uint64_t longest_plain_ns, shortest_difficult_ns = UINT64_MAX;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *first, *last, *unused;
static struct request arena[interleaved];

TIMED void think(void) {
    truth_spin_us(light_us);
}

TIMED void think_hard(void) {
    truth_spin_us(hard_us);
}

static bool is_difficult(const struct request* request) {
    return request->id % 20 == 19;
}

// A span begins at its return. Null when there is no memory.
TIMED struct request* open_request(void) {
    struct request* request = unused;
    if (!request)
        return 0;
    unused = request->next;
    request->id = opened++;
    // Only the end differs, and what was there before was longer at times.
    snprintf(request->name, sizeof request->name, "request-%s%" PRIu64, request->id % 2 ? "n" : "",
             request->id);
    request->steps_left = is_difficult(request) ? difficult_steps : steps;
    request->worked_ns = 0;
    return request;
}

TIMED void work_on(struct request* request) {
    if (is_difficult(request) && request->steps_left % 4 == 2)
        think_hard(); // BRANCH difficult
    else
        think();
    --request->steps_left;
}

// The thread goes on to another one.
TIMED void put_aside(struct request* request) {
    request->rests++;
}

TIMED void close_request(struct request* request) {
    request->id = UINT64_MAX;
}

static void put_last(struct request* request) {
    request->next = 0;
    *(first ? &last->next : &first) = request;
    last = request;
}

static void raise_to(uint64_t* most, uint64_t value) {
    if (value > *most)
        *most = value;
}

// The lock is held.
static void begin_one(void) {
    const uint64_t before = truth_now();
    struct request* request = open_request();
    if (!request)
        return;
    request->before_ns = before;
    request->opened_ns = truth_now();
    if (abandoned < abandon) {
        abandoned++;
        request->next = unused;
        unused = request;
        return;
    }
    put_last(request);
}

// The lock is held.
static void end_one(struct request* request) {
    const uint64_t inside = truth_now() - request->opened_ns;
    const bool hard = is_difficult(request);
    if (forgotten < forget) {
        forgotten++;
        return;
    }
    close_request(request);
    const uint64_t around = truth_now() - request->before_ns;
    closed++;
    difficult += hard;
    inside_ns += inside;
    around_ns += around;
    worked_ns += request->worked_ns;
    if (!hard)
        raise_to(&longest_plain_ns, around);
    else if (inside < shortest_difficult_ns)
        shortest_difficult_ns = inside;
    raise_to(&longest_inside_ns, inside);
    raise_to(&longest_around_ns, around);
    request->next = unused;
    unused = request;
}

static void* work(void* unused_argument) {
    (void)unused_argument;
    for (;;) {
        pthread_mutex_lock(&lock);
        const bool more = truth_running() && (!truth_calls() || opened < truth_calls());
        while (more && unused && (!truth_calls() || opened < truth_calls()))
            begin_one();
        struct request* request = first;
        if (request)
            first = request->next;
        if (strays < stray) {
            static struct request never;
            strays++;
            close_request(&never);
        }
        pthread_mutex_unlock(&lock);
        if (!request && !more)
            return 0;
        if (!request)
            continue;
        const uint64_t begin = truth_now();
        work_on(request);
        put_aside(request);
        request->worked_ns += truth_now() - begin;
        pthread_mutex_lock(&lock);
        if (request->steps_left)
            put_last(request);
        else
            end_one(request);
        pthread_mutex_unlock(&lock);
    }
}

TIMED void churn_open(struct request* request) {
    request->rests++;
}

TIMED void churn_close(struct request* request) {
    request->rests--;
}

static void* churn_on(void* number) {
    uint64_t state = 88172645463325252u + (uintptr_t)number, opens = 0, closes = 0;
    while (truth_running() && (!truth_calls() || opens < truth_calls())) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        struct request* request = &arena[state % 16];
        if (state & 256) {
            churn_open(request);
            opens++;
        } else {
            churn_close(request);
            closes++;
        }
    }
    truth_add(&churn_opens, opens);
    truth_add(&churn_closes, closes);
    return 0;
}

static void flood_all(void) {
    struct request* all = calloc(flood, sizeof *all);
    if (!all)
        abort();
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < flood; i++)
            churn_open(&all[i]);
        for (uint64_t i = 0; i < flood; i++)
            churn_close(&all[i]);
        churn_opens += flood;
        churn_closes += flood;
    }
    free(all);
}

static void report(FILE* out) {
    fprintf(out,
            ",\"opened\":%" PRIu64 ",\"closed\":%" PRIu64 ",\"difficult\":%" PRIu64
            ",\"strays\":%" PRIu64 ",\"abandoned\":%" PRIu64 ",\"forgotten\":%" PRIu64
            ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64 ",\"worked_ns\":%" PRIu64
            ",\"longest_inside_ns\":%" PRIu64 ",\"longest_around_ns\":%" PRIu64
            ",\"longest_plain_ns\":%" PRIu64 ",\"shortest_difficult_ns\":%" PRIu64
            ",\"churn_opens\":%" PRIu64 ",\"churn_closes\":%" PRIu64,
            opened, closed, difficult, strays, abandoned, forgotten, inside_ns, around_ns,
            worked_ns, longest_inside_ns, longest_around_ns, longest_plain_ns,
            shortest_difficult_ns, churn_opens, churn_closes);
}

static void prepare(void) {
    for (unsigned i = 0; i < interleaved; ++i) {
        arena[i].next = unused;
        unused = &arena[i];
    }
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"workers", TRUTH_NUMBER, &workers, "threads, at most 16"},
        {"loop", TRUTH_FLAG, &loop, "one thread does all of it"},
        {"churn", TRUTH_FLAG, &churn, "all threads open and close what they like"},
        {"flood", TRUTH_NUMBER, &flood, "requests that one thread opens before it closes any"},
        {"stray", TRUTH_NUMBER, &stray, "closes of what was never opened"},
        {"abandon", TRUTH_NUMBER, &abandon, "requests whose memory is another one's then"},
        {"forget", TRUTH_NUMBER, &forget, "requests that nobody ends"},
    };
    const struct truth_program program = {
        .name = "requests",
        .about = "requests that several threads work for in turn",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .report = report,
        .prepare = prepare,
        .calls = 1000,
    };
    truth_start(argc, argv, &program);
    if (loop || flood) {
        if (flood)
            flood_all();
        else
            work(0);
        return truth_finish();
    }
    pthread_t threads[most_workers];
    if (workers > most_workers)
        workers = most_workers;
    for (uint64_t i = 0; i < workers; ++i)
        pthread_create(&threads[i], 0, churn ? churn_on : work, (void*)(uintptr_t)i);
    for (uint64_t i = 0; i < workers; ++i)
        pthread_join(threads[i], 0);
    return truth_finish();
}
