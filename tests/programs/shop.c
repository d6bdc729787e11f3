// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program for every command: clerks serve customers, of whom every tenth has them search; a bell
// that they ring wakes the porter; the watchman is in one call all the time; an apprentice, a
// process of its own, serves likewise. It counts and times the calls itself: `inside` between the
// first and the last statement of a call, `around` from before it to behind it, so that what a
// profiler says of it lies between the two.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { clerks = 2, customer_us = 300, search_us = 6000, search_steps = 60, soon_ns = 3000000 };
enum kind { PLAIN, DIFFICULT };

struct account {
    uint64_t calls, inside_ns, around_ns, longest_inside_ns, longest_around_ns, cpu_ns;
};
// Shared with the apprentice.
static struct {
    struct account serve[2], search, apprentice;
    // Of the CPU time of searches that which fell into the first 3 ms of the calls around them.
    struct {
        uint64_t least_ns, most_ns;
    } soon;
    uint64_t rings, wakes, apprentice_pid;
} * book;
// A call of `serve` begins between the two.
static _Thread_local uint64_t came_ns, begun_ns;

static int bell[2];

static void raise_to(uint64_t* most, uint64_t value) {
    uint64_t known = truth_read(most);
    while (value > known && !__atomic_compare_exchange_n(most, &known, value, false,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void note(struct account* account, uint64_t inside_ns, uint64_t around_ns) {
    truth_count(&account->calls);
    truth_add(&account->inside_ns, inside_ns);
    truth_add(&account->around_ns, around_ns);
    raise_to(&account->longest_inside_ns, inside_ns);
    raise_to(&account->longest_around_ns, around_ns);
}

TIMED void search(uint64_t* inside_ns) {
    const uint64_t begin = truth_now(), begin_cpu = cpu_now();
    uint64_t now = begin, spent = 0;
    for (uint64_t step = 1; step <= search_steps; ++step) {
        const uint64_t due = step * search_us * 1000 / search_steps, before = now, had = spent;
        if (spent < due)
            truth_spin_us((due - spent) / 1000);
        spent = cpu_now() - begin_cpu;
        now = truth_now();
        if (now - came_ns <= soon_ns)
            truth_add(&book->soon.least_ns, spent - had);
        if (before - begun_ns <= soon_ns)
            truth_add(&book->soon.most_ns, spent - had);
    }
    *inside_ns = truth_now() - begin;
}

TIMED void advise(void) {
    truth_spin_us(customer_us);
}

TIMED int serve(enum kind kind, unsigned customer, uint64_t* inside_ns) {
    const uint64_t begin = begun_ns = truth_now();
    advise();
    if (kind == DIFFICULT) {
        uint64_t inside = 0;
        const uint64_t before = truth_now();
        search(&inside); // BRANCH difficult
        note(&book->search, inside, truth_now() - before);
    }
    *inside_ns = truth_now() - begin;
    return (int)(customer % 7);
}

TIMED void ring(void) {
    truth_count(&book->rings);
    truth_expect(write(bell[1], "!", 1) == 1, "the bell rings");
}

TIMED bool await_bell(void) {
    char sound;
    return read(bell[0], &sound, 1) == 1;
}

TIMED void watch(void) {
    for (;;)
        pause();
}

static void serve_customer(uint64_t number, struct account* account) {
    const enum kind kind = number % 10 == 9 ? DIFFICULT : PLAIN;
    uint64_t inside = 0;
    const uint64_t before = came_ns = truth_now();
    truth_expect(serve(kind, (unsigned)number, &inside) == (int)(number % 7), "the receipt fits");
    note(account ? account : &book->serve[kind], inside, truth_now() - before);
}

static void* clerk(void* number) {
    char name[16];
    snprintf(name, sizeof name, "clerk-%d", (int)(intptr_t)number);
    truth_name_thread(name);
    for (uint64_t done = 0; truth_more(done); ++done) {
        serve_customer(done, NULL);
        if (done % 10 == 0)
            ring();
    }
    return NULL;
}

static void* porter(void* unused) {
    (void)unused;
    truth_name_thread("porter");
    while (await_bell())
        truth_count(&book->wakes);
    return NULL;
}

static void* watchman(void* unused) {
    (void)unused;
    truth_name_thread("watchman");
    watch();
    return NULL;
}

static pid_t hire_apprentice(void) {
    const uint64_t calls = truth_calls();
    const pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // also when the shop is killed
    truth_in_child();
    truth_name_thread("apprentice");
    for (uint64_t done = 0; done < calls / 2; ++done)
        serve_customer(done, &book->apprentice);
    for (;;)
        pause();
}

static void report_account(FILE* out, const char* name, const struct account* account) {
    fprintf(out,
            ",\"%s\":{\"calls\":%" PRIu64 ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64
            ",\"longest_inside_ns\":%" PRIu64 ",\"longest_around_ns\":%" PRIu64 "}",
            name, truth_read(&account->calls), truth_read(&account->inside_ns),
            truth_read(&account->around_ns), truth_read(&account->longest_inside_ns),
            truth_read(&account->longest_around_ns));
}

static void report(FILE* out) {
    report_account(out, "plain", &book->serve[PLAIN]);
    report_account(out, "difficult", &book->serve[DIFFICULT]);
    report_account(out, "search", &book->search);
    report_account(out, "apprentice", &book->apprentice);
    fprintf(out, ",\"soon\":{\"least_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64 "}",
            truth_read(&book->soon.least_ns), truth_read(&book->soon.most_ns));
    fprintf(out, ",\"rings\":%" PRIu64 ",\"wakes\":%" PRIu64 ",\"apprentice_pid\":%" PRIu64,
            truth_read(&book->rings), truth_read(&book->wakes), truth_read(&book->apprentice_pid));
}

int main(int argc, char** argv) {
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct truth_program program = {.name = "shop",
                                          .about = "clerks serve customers, some take long",
                                          .report = report,
                                          .pause_us = 200,
                                          .calls = 200};
    truth_start(argc, argv, &program);
    if (book == MAP_FAILED || pipe(bell) != 0)
        return 1;
    pthread_t threads[clerks], waiting;
    const pid_t apprentice = hire_apprentice();
    book->apprentice_pid = (uint64_t)apprentice;
    if (apprentice < 0 || pthread_create(&waiting, NULL, porter, NULL) != 0 ||
        pthread_create(&waiting, NULL, watchman, NULL) != 0)
        return 1;
    for (int i = 0; i < clerks; ++i)
        if (pthread_create(&threads[i], NULL, clerk, (void*)(intptr_t)i) != 0)
            return 1;
    for (int i = 0; i < clerks; ++i)
        pthread_join(threads[i], NULL);
    // The apprentice is still there, as are the porter and the watchman, while it lingers.
    while (truth_read(&book->apprentice.calls) < truth_calls() / 2 && truth_running())
        truth_sleep_us(1000);
    const int code = truth_finish();
    kill(apprentice, SIGKILL);
    waitpid(apprentice, NULL, 0);
    return code;
}
