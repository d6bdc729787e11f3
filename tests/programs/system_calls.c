// SPDX-License-Identifier: GPL-3.0-or-later
//
// Makes system calls of which it knows how many, and with what.
#include "common/truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { large_size = 300, no_file = -1, most_bytes = 512, yield_every = 100 };

static uint64_t rounds, writes, failed, large, bytes, zeros, sleeps, slept_ns, yields;

static void sleep_for(long ns) {
    const struct timespec span = {0, ns};
    const uint64_t before = truth_now();
    // As it is: the C library's function may make another call of it.
    syscall(SYS_nanosleep, &span, NULL);
    slept_ns += truth_now() - before;
    ++sleeps;
}

TIMED void make_calls(uint64_t round, int sink) {
    static const char data[most_bytes];
    const size_t size = 1 + round % 5 * 100;
    const int file = round % 3 == 0 ? no_file : sink;
    const char* name = round % 2 ? "/dev/null" : "/dev/zero";

    syscall(SYS_getppid);
    if (syscall(SYS_write, file, data, size) < 0)
        ++failed;
    ++writes;
    bytes += size;
    large += size > large_size;
    syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, name, O_RDONLY));
    zeros += round % 2 == 0;
    if (round % yield_every == 0) {
        syscall(SYS_sched_yield);
        ++yields;
    }
    if (round % 10 == 0)
        sleep_for(300000);
    truth_count(&rounds);
}

static void report(FILE* out) {
    fprintf(out,
            ",\"rounds\":%" PRIu64 ",\"writes\":%" PRIu64 ",\"failed\":%" PRIu64
            ",\"large\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"zeros\":%" PRIu64 ",\"sleeps\":%" PRIu64
            ",\"slept_ns\":%" PRIu64 ",\"yields\":%" PRIu64 ",\"tid\":%ld",
            truth_read(&rounds), writes, failed, large, bytes, zeros, sleeps, slept_ns, yields,
            syscall(SYS_gettid));
}

int main(int argc, char** argv) {
    const struct truth_program program = {
        .name = "system_calls",
        .about = "makes system calls",
        .report = report,
        .calls = 1000,
    };
    const int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    truth_start(argc, argv, &program);
    for (uint64_t round = 1; truth_more(round - 1); ++round)
        make_calls(round, sink);
    return truth_finish();
}
