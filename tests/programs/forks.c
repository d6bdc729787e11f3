// SPDX-License-Identifier: GPL-3.0-or-later
//
// Forks inside a timed function. The child is born with the call open and then returns from it,
// exits in the middle of it, or executes this program anew; besides, vfork and posix_spawn. The
// parent checks each child's exit code, so a child that was harmed is noticed.
#define _GNU_SOURCE
#include "common/truth.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum mode { CHILD_RETURNS, CHILD_EXITS, CHILD_EXECS, VFORK, SPAWN, mode_count };
static const char* const mode_names[] = {"child_returns", "child_exits", "child_execs", "vfork",
                                         "spawn"};
enum { FORKING_CALL, PARENT_WORK };
static struct truth_function functions[] = {{.name = "forking_call"}, {.name = "parent_work"}};
static uint64_t rounds, children[mode_count];
static char* child_argv[] = {"forks", "--child", NULL};
enum { child_calls = 5, child_exit_code = 42 };
static bool is_child;

TIMED uint64_t child_work(uint64_t value) {
    return value * 11 + 1;
}

// Exits as the parent expects it only if its calls gave the right values.
static _Noreturn void work_as_child(void) {
    bool right = true;
    for (uint64_t i = 0; i < child_calls; ++i)
        right = right && child_work(i) == i * 11 + 1;
    _exit(right ? child_exit_code : 1);
}

TIMED uint64_t parent_work(uint64_t value) {
    truth_count(&functions[PARENT_WORK].entries);
    truth_count(&functions[PARENT_WORK].returns);
    return value + 5;
}

static _Noreturn void execute_self(void) {
    execv("/proc/self/exe", child_argv);
    _exit(127);
}

// Returns the child's process id in the parent, and 0 in a child that returns.
TIMED pid_t forking_call(enum mode mode) {
    truth_count(&functions[FORKING_CALL].entries);
    pid_t pid = -1;
    switch (mode) {
    case CHILD_RETURNS:
        pid = fork();
        break;
    case CHILD_EXITS:
        if ((pid = fork()) == 0)
            work_as_child();
        break;
    case CHILD_EXECS:
        if ((pid = fork()) == 0)
            execute_self();
        break;
    case VFORK:
        if ((pid = vfork()) == 0)
            execute_self();
        break;
    case SPAWN:
        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child_argv, environ) != 0)
            pid = -1;
        break;
    case mode_count:
        break;
    }
    // The child's counts are its own copy and are never printed.
    truth_count(&functions[FORKING_CALL].returns);
    return pid;
}

static void one_child(enum mode mode, uint64_t round) {
    const pid_t pid = forking_call(mode);
    if (pid == 0)
        work_as_child();
    truth_expect(pid > 0, "a child could not be made");
    truth_expect(parent_work(round) == round + 5, "parent_work returned a wrong value");
    int status = 0;
    truth_expect(waitpid(pid, &status, 0) == pid, "a child was lost");
    truth_expect(WIFEXITED(status) && WEXITSTATUS(status) == child_exit_code,
                 "a child ended in a way it should not");
    truth_count(&children[mode]);
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"calls_per_child\":%d,\"children\":{",
            truth_read(&rounds), child_calls);
    for (int mode = 0; mode < mode_count; ++mode)
        fprintf(out, "%s\"%s\":%" PRIu64, mode ? "," : "", mode_names[mode],
                truth_read(&children[mode]));
    fprintf(out, "}");
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "--child") == 0)
        work_as_child();
    const struct truth_option options[] = {
        {"child", TRUTH_FLAG, &is_child, "only alone: what an executed child does"},
    };
    const struct truth_program program = {.name = "forks",
                                          .about = "forks inside a timed function",
                                          .options = options,
                                          .option_count = 1,
                                          .functions = functions,
                                          .function_count = 2,
                                          .report = report,
                                          .pause_us = 500};
    truth_start(argc, argv, &program);
    if (is_child) {
        fprintf(stderr, "forks: --child goes with no other option\n");
        return 2;
    }
    for (uint64_t done = 0; truth_more(done); ++done) {
        for (enum mode mode = 0; mode < mode_count; ++mode)
            one_child(mode, done);
        truth_count(&rounds);
    }
    return truth_finish();
}
