// SPDX-License-Identifier: GPL-3.0-or-later
//
// Processes that end while other threads are inside a timed function: by exit, _exit, a return
// from main, exec, or SIGKILL. By default a supervisor forks a process for each way and checks how
// it ended; with --mode MODE --alone the observed process itself goes.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { open_threads = 3, calls_after_exec = 5 };
enum mode { BY_EXIT, BY_UNDERSCORE_EXIT, BY_MAIN, BY_EXEC, BY_KILL, mode_count };
static const struct {
    const char* name;
    int code; // expected exit code, or minus the signal
} modes[] = {{"exit", 3}, {"_exit", 4}, {"main", 5}, {"exec", 7}, {"kill", -SIGKILL}};
static uint64_t rounds, processes[mode_count], inside;
static const char* mode_name = "all";
static bool alone, is_child;

static char* exec_argv[] = {"exits", "--child", NULL};

// Never returns: the process ends around it.
TIMED uint64_t long_call(uint64_t value) {
    truth_count(&inside);
    for (;;)
        truth_sleep_us(1000 + value);
}

TIMED uint64_t after_exec(uint64_t value) {
    return value * 13 + 2;
}

// Ends the process in the middle of its own call, unless main is to return.
TIMED void leaver(enum mode mode) {
    switch (mode) {
    case BY_EXIT:
        exit(modes[BY_EXIT].code);
    case BY_UNDERSCORE_EXIT:
        _exit(modes[BY_UNDERSCORE_EXIT].code);
    case BY_EXEC:
        execv("/proc/self/exe", exec_argv);
        _exit(127);
    case BY_KILL:
        kill(getpid(), SIGKILL);
        break;
    case BY_MAIN:
    case mode_count:
        break;
    }
}

static void* stay_inside(void* unused) {
    (void)unused;
    truth_name_thread("inside");
    return (void*)(uintptr_t)long_call(1);
}

static void* leave(void* mode) {
    truth_name_thread("leaver");
    leaver((enum mode)(uintptr_t)mode);
    return NULL;
}

// Returns what main should return, if the process is still there.
static int end_while_open(enum mode mode) {
    pthread_t thread;
    for (int i = 0; i < open_threads; ++i)
        if (pthread_create(&thread, NULL, stay_inside, NULL) != 0)
            return 1;
    while (truth_read(&inside) < open_threads)
        truth_sleep_us(50);
    if (pthread_create(&thread, NULL, leave, (void*)(uintptr_t)mode) != 0)
        return 1;
    pthread_join(thread, NULL);
    return modes[mode].code;
}

static void supervise(enum mode mode) {
    const pid_t pid = fork();
    if (pid == 0) {
        truth_in_child();
        exit(end_while_open(mode));
    }
    int status = 0;
    truth_expect(pid > 0 && waitpid(pid, &status, 0) == pid, "a process was lost");
    truth_expect((modes[mode].code >= 0)
                     ? WIFEXITED(status) && WEXITSTATUS(status) == modes[mode].code
                     : WIFSIGNALED(status) && WTERMSIG(status) == -modes[mode].code,
                 "a process ended in a way it should not");
    truth_count(&processes[mode]);
}

static void report(FILE* out) {
    fprintf(out,
            ",\"rounds\":%" PRIu64 ",\"open_per_process\":%d,\"calls_after_exec\":%d,"
            "\"processes\":{",
            truth_read(&rounds), open_threads, calls_after_exec);
    for (int mode = 0; mode < mode_count; ++mode)
        fprintf(out, "%s\"%s\":%" PRIu64, mode ? "," : "", modes[mode].name,
                truth_read(&processes[mode]));
    fprintf(out, "}");
}

static int run_executed(void) {
    truth_in_child();
    bool right = true;
    for (uint64_t i = 0; i < calls_after_exec; ++i)
        right = right && after_exec(i) == i * 13 + 2;
    return right ? modes[BY_EXEC].code : 1;
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "--child") == 0)
        return run_executed();
    const struct truth_option options[] = {
        {"mode", TRUTH_TEXT, &mode_name, "exit, _exit, main, exec, kill or all"},
        {"alone", TRUTH_FLAG, &alone, "end this process itself by --mode, after its account"},
        {"child", TRUTH_FLAG, &is_child, "only alone: what the program does after exec"},
    };
    const struct truth_program program = {.name = "exits",
                                          .about = "ends processes with calls open",
                                          .options = options,
                                          .option_count = 3,
                                          .report = report,
                                          .pause_us = 500};
    truth_start(argc, argv, &program);
    enum mode only = mode_count;
    for (enum mode mode = 0; mode < mode_count; ++mode)
        if (strcmp(modes[mode].name, mode_name) == 0)
            only = mode;
    if (is_child || (only == mode_count && (alone || strcmp(mode_name, "all") != 0))) {
        fprintf(stderr, "exits: --mode is unknown, or does not go with the other options\n");
        return 2;
    }
    if (alone) {
        truth_print(true);
        return end_while_open(only);
    }
    for (uint64_t done = 0; truth_more(done); ++done) {
        for (enum mode mode = 0; mode < mode_count; ++mode)
            if (only == mode_count || only == mode)
                supervise(mode);
        truth_count(&rounds);
    }
    return truth_finish();
}
