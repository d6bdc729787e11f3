// SPDX-License-Identifier: GPL-3.0-or-later
// A program that asks auger for its own profile:
//
//     own_profile ask SOCKET SECONDS FORMAT
//         writes it to standard output; else errno and what is wrong to standard error, and ends
//         with 1.
//     own_profile serve SOCKET SECONDS FORMAT FILE
//         works in two threads, one of its own functions each, until it has written the profile to
//         the file, which it asks for when it is told to by a line on standard input.
#include "include/auger_client.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

static volatile int done;
static volatile unsigned long sum;

static __attribute__((noinline)) void knead(void) {
    for (int i = 0; i < 100000; i++)
        sum += (unsigned long)i * i;
}

static __attribute__((noinline)) void bake(void) {
    for (int i = 0; i < 100000; i++)
        sum ^= (unsigned long)i << 3;
}

static void* work(void* how) {
    void (*const function)(void) = *(void (**)(void))how;
    while (!done)
        function();
    return NULL;
}

static int ask(char** arguments, int fd) {
    char why[512];
    const int asked = auger_profile_or_why(arguments[0], atof(arguments[1]), arguments[2], fd, why,
                                           sizeof(why));
    if (asked < 0)
        fprintf(stderr, "%d %s\n", errno, why);
    return asked < 0 ? 1 : 0;
}

static int serve(char** arguments) {
    void (*functions[2])(void) = {knead, bake};
    pthread_t threads[2];
    char line[16];
    int fd, failed;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &functions[i]) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 1;
    fd = open(arguments[3], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    failed = fd < 0 || ask(arguments, fd);
    puts(failed ? "failed" : "done");
    fflush(stdout);
    // It is still observed, until it is told that it may go.
    if (!fgets(line, sizeof(line), stdin))
        failed = 1;
    done = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return failed;
}

int main(int count, char** arguments) {
    if (count == 5 && strcmp(arguments[1], "ask") == 0)
        return ask(arguments + 2, STDOUT_FILENO);
    if (count == 6 && strcmp(arguments[1], "serve") == 0)
        return serve(arguments + 2);
    fprintf(stderr, "usage: %s ask|serve SOCKET SECONDS FORMAT [FILE]\n", arguments[0]);
    return 2;
}
