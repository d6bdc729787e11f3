// SPDX-License-Identifier: GPL-3.0-or-later
//
// Loads a library after it was attached to, calls `late_work` in it a known number of times, and
// unloads it. With --step it prints `loaded PATH` and waits before it calls, so that a test can
// count every call; with --copy each round loads a fresh copy of the file under another name.
#define _GNU_SOURCE
#include "common/truth.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t rounds, calls, calls_per_round = 100, settle_us;
static bool step, copy;
static char library[PATH_MAX];

static _Noreturn void fail(const char* subject) {
    fprintf(stderr, "late_library: %s: %s\n", subject, dlerror());
    exit(1);
}

static void find_library(void) {
    const ssize_t length = readlink("/proc/self/exe", library, sizeof library - 32);
    if (length <= 0) {
        perror("late_library: /proc/self/exe");
        exit(1);
    }
    library[length] = '\0';
    strcpy(strrchr(library, '/') + 1, "liblate_work.so");
}

// Another file, hence another inode: what was attached to the first does not cover it.
static void copy_library(char* path) {
    struct stat status;
    const int from = open(library, O_RDONLY | O_CLOEXEC);
    const int to = mkostemps(path, 3, O_CLOEXEC);
    if (from < 0 || to < 0 || fstat(from, &status) != 0 ||
        sendfile(to, from, NULL, (size_t)status.st_size) != status.st_size) {
        perror("late_library: copy");
        exit(1);
    }
    close(from);
    close(to);
}

static void one_round(uint64_t round) {
    char path[] = "/tmp/liblate_work-XXXXXX.so";
    if (copy)
        copy_library(path);
    const char* loaded = copy ? path : library;
    void* handle = dlopen(loaded, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail(loaded);
    uint64_t (*late_work)(uint64_t) = (uint64_t(*)(uint64_t))dlsym(handle, "late_work");
    if (!late_work)
        fail("late_work");
    if (step) {
        printf("loaded %s\n", loaded);
        fflush(stdout);
        truth_wait();
    }
    if (settle_us)
        truth_sleep_us(settle_us);
    for (uint64_t i = 0; i < calls_per_round; ++i)
        truth_expect(late_work(round + i) == (round + i) * 17 + 4, "late_work went wrong");
    truth_add(&calls, calls_per_round);
    dlclose(handle);
    if (copy)
        unlink(path);
}

static void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"calls\":%" PRIu64, truth_read(&rounds),
            truth_read(&calls));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"calls-per-round", TRUTH_NUMBER, &calls_per_round, "calls between loading and unloading"},
        {"settle-us", TRUTH_NUMBER, &settle_us, "pause after loading"},
        {"step", TRUTH_FLAG, &step, "after loading, print `loaded PATH` and wait as --wait does"},
        {"copy", TRUTH_FLAG, &copy, "load a fresh copy of the library in each round"},
    };
    const struct truth_program program = {.name = "late_library",
                                          .about = "loads, calls and unloads a library",
                                          .options = options,
                                          .option_count = 4,
                                          .report = report,
                                          .pause_us = 1000,
                                          .calls = 1};
    find_library();
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round(done);
        truth_count(&rounds);
    }
    return truth_finish();
}
