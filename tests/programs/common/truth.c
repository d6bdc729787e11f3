// SPDX-License-Identifier: GPL-3.0-or-later
//
// See truth.h. One account is written by one write(), so lines never mix.
#define _GNU_SOURCE
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { longest_wait_ms = 120 * 1000 };

static const struct truth_program* program;
static bool option_wait, option_linger;
static uint64_t option_calls, option_pause_us;
// As long as a test of CTest may take: nobody waits for it then.
static double option_seconds = 180;

static uint64_t deadline_ns;
static bool stopping;
static const char* failure;
static int go_event = -1;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t truth_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const struct truth_option common_options[] = {
    {"calls", TRUTH_NUMBER, &option_calls, "end after N rounds (of each thread); 0 is no limit"},
    {"seconds", TRUTH_DECIMAL, &option_seconds, "end after S seconds; 0 is no limit"},
    {"pause-us", TRUTH_NUMBER, &option_pause_us, "pause between rounds"},
    {"wait", TRUTH_FLAG, &option_wait, "after `ready`, wait for a line on stdin or SIGUSR2"},
    {"linger", TRUTH_FLAG, &option_linger, "after the account, wait in the same way"},
};
static const size_t common_count = sizeof common_options / sizeof *common_options;

static void print_options(const struct truth_option* options, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const struct truth_option* option = &options[i];
        printf("  --%-14s ", option->name);
        switch (option->kind) {
        case TRUTH_FLAG:
            printf("%s\n", option->help);
            break;
        case TRUTH_NUMBER:
            printf("%s (%" PRIu64 ")\n", option->help, *(uint64_t*)option->value);
            break;
        case TRUTH_DECIMAL:
            printf("%s (%g)\n", option->help, *(double*)option->value);
            break;
        case TRUTH_TEXT: {
            const char* text = *(const char**)option->value;
            printf("%s (%s)\n", option->help, text ? text : "none");
        } break;
        }
    }
}

static _Noreturn void usage_error(const char* what, const char* argument) {
    fprintf(stderr, "%s: %s: %s (see --help)\n", program->name, argument, what);
    exit(2);
}

static const struct truth_option* find_option(const char* name) {
    for (size_t i = 0; i < program->option_count; ++i)
        if (strcmp(program->options[i].name, name) == 0)
            return &program->options[i];
    for (size_t i = 0; i < common_count; ++i)
        if (strcmp(common_options[i].name, name) == 0)
            return &common_options[i];
    return NULL;
}

static void set_option(const struct truth_option* option, const char* text) {
    char* end = NULL;
    errno = 0;
    switch (option->kind) {
    case TRUTH_FLAG:
        break;
    case TRUTH_NUMBER:
        *(uint64_t*)option->value = strtoull(text, &end, 10);
        if (errno || end == text || *end || *text == '-')
            usage_error("not a whole number", text);
        break;
    case TRUTH_DECIMAL:
        *(double*)option->value = strtod(text, &end);
        if (errno || end == text || *end || !(*(double*)option->value >= 0))
            usage_error("not a number of 0 or more", text);
        break;
    case TRUTH_TEXT:
        *(const char**)option->value = text;
        break;
    }
}

static void parse_options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s: %s\n\n", program->name, program->about);
            print_options(program->options, program->option_count);
            print_options(common_options, common_count);
            exit(0);
        }
        const struct truth_option* option =
            strncmp(argv[i], "--", 2) == 0 ? find_option(argv[i] + 2) : NULL;
        if (!option)
            usage_error("unknown option", argv[i]);
        if (option->kind == TRUTH_FLAG)
            *(bool*)option->value = true;
        else if (i + 1 == argc)
            usage_error("needs a value", argv[i]);
        else
            set_option(option, argv[++i]);
    }
}

static sigset_t own_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

static void go_on(void) {
    const uint64_t one = 1;
    if (write(go_event, &one, sizeof one) != sizeof one)
        abort();
}

static void* take_signals(void* unused) {
    (void)unused;
    // Only these four come here: a signal that a program sends to itself is for its own threads.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    const sigset_t set = own_signals();
    for (;;) {
        int signal = 0;
        if (sigwait(&set, &signal) != 0)
            continue;
        if (signal == SIGUSR1)
            truth_print(false);
        if (signal == SIGTERM || signal == SIGINT)
            truth_stop();
        if (signal != SIGUSR1)
            go_on();
    }
    return NULL;
}

void truth_wait(void) {
    struct pollfd events[2] = {{.fd = go_event, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
    while (truth_running()) {
        if (poll(events, 2, longest_wait_ms) <= 0) {
            fprintf(stderr, "%s: nobody said to go on\n", program->name);
            exit(1);
        }
        if (events[0].revents) {
            uint64_t count;
            if (read(go_event, &count, sizeof count) == sizeof count)
                return;
        }
        if (events[1].revents) {
            char byte;
            const ssize_t got = read(STDIN_FILENO, &byte, 1);
            if (got <= 0)
                events[1].fd = -1; // a closed standard input says nothing: SIGUSR2 may still come
            else if (byte == '\n')
                return;
        }
    }
}

void truth_start(int argc, char** argv, const struct truth_program* which) {
    program = which;
    option_pause_us = program->pause_us;
    option_calls = program->calls;
    parse_options(argc, argv);

    if (program->prepare)
        program->prepare();

    go_event = eventfd(0, EFD_CLOEXEC);
    const sigset_t set = own_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    if (go_event < 0 || pthread_create(&thread, NULL, take_signals, NULL) != 0) {
        perror(program->name);
        exit(1);
    }
    pthread_setname_np(thread, "truth");
    pthread_detach(thread);

    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    if (option_wait)
        truth_wait();
    if (option_seconds > 0)
        deadline_ns = truth_now() + (uint64_t)(option_seconds * 1e9);
}

bool truth_running(void) {
    if (__atomic_load_n(&stopping, __ATOMIC_RELAXED))
        return false;
    return deadline_ns == 0 || truth_now() < deadline_ns;
}

void truth_stop(void) {
    __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
}
uint64_t truth_calls(void) {
    return option_calls;
}
uint64_t truth_pause_us(void) {
    return option_pause_us;
}

bool truth_more(uint64_t done) {
    if (option_calls && done >= option_calls)
        return false;
    if (done && option_pause_us)
        truth_sleep_us(option_pause_us);
    return truth_running();
}

void truth_expect(bool holds, const char* what) {
    if (!holds)
        __atomic_store_n(&failure, what, __ATOMIC_RELAXED);
}

void truth_name_thread(const char* name) {
    pthread_setname_np(pthread_self(), name);
}

void truth_run_first(void) {
    const struct sched_param first = {.sched_priority = 1};
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
}

void truth_spin_us(uint64_t microseconds) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const uint64_t end =
        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + microseconds * 1000;
    do {
        for (volatile int i = 0; i < 300; ++i)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < end);
}

void truth_sleep_us(uint64_t microseconds) {
    struct timespec left = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

void truth_in_child(void) {
    const sigset_t set = own_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void truth_print(bool final) {
    pthread_mutex_lock(&print_lock);
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    if (!out)
        abort();
    const char* failed = __atomic_load_n(&failure, __ATOMIC_RELAXED);
    fprintf(out, "{\"program\":\"%s\",\"pid\":%d,\"final\":%s,\"ok\":%s", program->name,
            (int)getpid(), final ? "true" : "false", failed ? "false" : "true");
    if (failed)
        fprintf(out, ",\"failure\":\"%s\"", failed);
    if (program->function_count) {
        fprintf(out, ",\"functions\":{");
        for (size_t i = 0; i < program->function_count; ++i) {
            const struct truth_function* function = &program->functions[i];
            fprintf(out,
                    "%s\"%s\":{\"entries\":%" PRIu64 ",\"returns\":%" PRIu64 ",\"unwound\":%" PRIu64
                    "}",
                    i ? "," : "", function->name, truth_read(&function->entries),
                    truth_read(&function->returns), truth_read(&function->unwound));
        }
        fprintf(out, "}");
    }
    if (program->report)
        program->report(out);
    fprintf(out, "}\n");
    fclose(out);
    fflush(stdout);
    for (size_t written = 0; written < size;) {
        const ssize_t now = write(STDOUT_FILENO, text + written, size - written);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            break; // nobody reads any more
        written += (size_t)now;
    }
    free(text);
    pthread_mutex_unlock(&print_lock);
}

int truth_finish(void) {
    truth_print(true);
    if (option_linger && !__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
        deadline_ns = 0;
        truth_wait();
    }
    return failure ? 1 : 0;
}
