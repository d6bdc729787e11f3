// SPDX-License-Identifier: GPL-3.0-or-later
//
// A server whose threads take requests from a queue, whichever is free: what a client has asked
// next mostly goes to another thread than the one that answered it before, which waits for work
// meanwhile. One request in ten naps. The clients are a process of their own.
#define _GNU_SOURCE
#include "common/truth.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_connections = 64, thread_count = 4 };
static uint64_t connections = 6, nap_us = 20000, think_us = 3000;
static uint64_t served, naps, closed;
static struct sockaddr_in address;
static int listener, events_fd, client_go[2];
static pid_t client;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static int queue[most_connections]; // each connection is in it once at most
static uint64_t queued, taken;

TIMED void wait_for_work(void) {
    while (queued == taken)
        pthread_cond_wait(&has_work, &lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    wait_for_work();
    const int fd = queue[taken++ % most_connections];
    pthread_mutex_unlock(&lock);
    return fd;
}

static void put(int fd) {
    pthread_mutex_lock(&lock);
    queue[queued++ % most_connections] = fd;
    pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
}

TIMED void nap(void) {
    truth_sleep_us(nap_us);
}

static void watch(int fd, int operation) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
    epoll_ctl(events_fd, operation, fd, &event);
}

static void* work(void* unused) {
    (void)unused;
    truth_name_thread("worker");
    for (;;) {
        const int fd = take();
        char request;
        if (read(fd, &request, 1) != 1) {
            close(fd);
            truth_count(&closed);
            continue;
        }
        if (request == 'n') {
            nap();
            truth_count(&naps);
        }
        truth_expect(write(fd, &request, 1) == 1, "answered");
        truth_count(&served);
        watch(fd, EPOLL_CTL_MOD);
    }
}

static void send_at_once(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void* ask(void* number) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0)
        _exit(2);
    send_at_once(fd);
    for (uint64_t i = 0; i < truth_calls(); i++) {
        char byte = (i + (uintptr_t)number) % 10 ? 'q' : 'n';
        if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
            _exit(3);
        truth_sleep_us(think_us);
    }
    close(fd);
    return NULL;
}

// They ask when the server says so.
static void be_clients(void) {
    pthread_t threads[most_connections];
    char byte;
    if (read(client_go[0], &byte, 1) != 1)
        _exit(1);
    for (uint64_t i = 0; i < connections; i++)
        pthread_create(&threads[i], NULL, ask, (void*)(uintptr_t)i);
    for (uint64_t i = 0; i < connections; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

static void prepare(void) {
    socklen_t size = sizeof address;
    if (connections > most_connections)
        connections = most_connections;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) != 0 ||
        listen(listener, most_connections) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0 || pipe(client_go) != 0) {
        perror("pooled");
        exit(1);
    }
    client = fork();
    if (client == 0) {
        truth_in_child();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_clients();
    }
    events_fd = epoll_create1(0);
}

static void report(FILE* out) {
    fprintf(out, ",\"port\":%d,\"served\":%" PRIu64 ",\"naps\":%" PRIu64, ntohs(address.sin_port),
            truth_read(&served), truth_read(&naps));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"connections", TRUTH_NUMBER, &connections, "of clients, at most 64"},
        {"nap-us", TRUTH_NUMBER, &nap_us, "how long one request in ten naps"},
        {"think-us", TRUTH_NUMBER, &think_us, "of a client between an answer and the next request"},
    };
    const struct truth_program program = {
        .name = "pooled",
        .about = "a server whose threads take requests from a queue",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .report = report,
        .prepare = prepare,
        .calls = 100, // of each connection
    };
    pthread_t threads[thread_count];
    truth_start(argc, argv, &program);
    for (int i = 0; i < thread_count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    if (write(client_go[1], "g", 1) != 1)
        return 1;
    for (uint64_t i = 0; i < connections; i++) {
        const int fd = accept(listener, NULL, NULL);
        send_at_once(fd);
        watch(fd, EPOLL_CTL_ADD);
    }
    while (truth_read(&closed) < connections) {
        struct epoll_event events[most_connections];
        const int ready = epoll_wait(events_fd, events, most_connections, 100);
        for (int i = 0; i < ready; i++)
            put(events[i].data.fd);
    }
    int status = 0;
    waitpid(client, &status, 0);
    truth_expect(status == 0, "the clients had their answers");
    return truth_finish();
}
