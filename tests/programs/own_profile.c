// SPDX-License-Identifier: GPL-3.0-or-later
// A program that asks auger for its own profile:
//
//     own_profile ask SOCKET SECONDS FORMAT
//         writes it to standard output; else errno and what is wrong to standard error, and ends
//         with 1.
//     own_profile work SOCKET SECONDS
//         works in two threads, in a function of its own each. For each line FORMAT FILE on
//         standard input it writes the profile to that file, and says "done"; an empty one ends it.
#include <auger_client.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

static volatile int done;
static volatile unsigned long sum;

static __attribute__((noinline)) void knead(void) {
    for (unsigned long i = 0; i < 100000; i++)
        sum = sum + i * i;
}

static __attribute__((noinline)) void bake(void) {
    for (unsigned long i = 0; i < 100000; i++)
        sum = sum ^ i << 3;
}

static void* work(void* how) {
    void (*const function)(void) = *(void (**)(void))how;
    while (!done)
        function();
    return NULL;
}

static int ask(char** where, const char* format, int fd) {
    char why[512];
    const int asked = auger_profile_or_why(where[0], atof(where[1]), format, fd, why, sizeof(why));
    if (asked < 0)
        fprintf(stderr, "%d %s\n", errno, why);
    return asked < 0 ? 1 : 0;
}

static int work_and_ask(char** where) {
    void (*functions[2])(void) = {knead, bake};
    pthread_t threads[2];
    char line[1024], format[32], file[sizeof(line)];
    int failed = 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &functions[i]) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) && sscanf(line, "%31s %1023s", format, file) == 2) {
        const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const int failed_now = fd < 0 || ask(where, format, fd);
        close(fd);
        failed |= failed_now;
        puts(failed_now ? "failed" : "done");
        fflush(stdout);
    }
    done = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return failed;
}

int main(int count, char** arguments) {
    if (count == 5 && strcmp(arguments[1], "ask") == 0)
        return ask(arguments + 2, arguments[4], STDOUT_FILENO);
    if (count == 4 && strcmp(arguments[1], "work") == 0)
        return work_and_ask(arguments + 2);
    fprintf(stderr, "usage: %s ask SOCKET SECONDS FORMAT, or %s work SOCKET SECONDS\n",
            arguments[0], arguments[0]);
    return 2;
}
