// SPDX-License-Identifier: GPL-3.0-or-later
//
// departures CHILDREN SPREAD_US: at each line that it reads it forks so many children, which are
// there when it says `here`; at the next line they begin to leave, evenly over that time, each by a
// call of exit. When all have left it says when each was about to.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_children = 1000 };
static uint64_t* left_ns; // shared with the children

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Noreturn void be_child(int number, int may_leave, uint64_t after_us) {
    char byte;
    // Ends when the parent closes the other end.
    if (read(may_leave, &byte, 1) != 0)
        _exit(1);
    const struct timespec wait = {.tv_sec = (time_t)(after_us / 1000000),
                                  .tv_nsec = (long)(after_us % 1000000) * 1000};
    nanosleep(&wait, NULL);
    left_ns[number] = now_ns();
    exit(0);
}

static int one_round(int children, uint64_t spread_us) {
    int ends[2], failed = 0;
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < children; ++i) {
        const pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            close(ends[1]);
            be_child(i, ends[0], spread_us * (uint64_t)i / (uint64_t)children);
        }
    }
    puts("here");
    if (getchar() == EOF)
        return 1;
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < children; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0)
            failed = 1;
    }
    printf("{\"program\":\"departures\",\"ok\":%s,\"left_ns\":[", failed ? "false" : "true");
    for (int i = 0; i < children; ++i)
        printf("%s%" PRIu64, i ? "," : "", left_ns[i]);
    puts("]}");
    return failed;
}

int main(int argc, char** argv) {
    const int children = argc > 2 ? atoi(argv[1]) : 0;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    left_ns = mmap(NULL, sizeof *left_ns * most_children, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children < 1 || children > most_children || left_ns == MAP_FAILED)
        return 2;
    puts("ready");
    while (getchar() != EOF)
        if (one_round(children, strtoull(argv[2], NULL, 10)) != 0)
            return 1;
    return 0;
}
