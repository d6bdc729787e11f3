// SPDX-License-Identifier: GPL-3.0-or-later
//
// An event loop that asks another server for what each request needs: one thread serves all
// connections of its clients, sends what it is asked on to an upstream, a process of its own, and
// thinks when that has answered. Every twentieth request is difficult: the upstream takes 40 ms in
// place of 2, and the loop thinks for longer. Each of the clients' connections has one to the
// upstream, which is made for its first request, with `--per-request` for each; with `--shared` one
// is for all of them, on which answers come in any order. `--batch`: what was received in a turn of
// the loop is asked at its end; turns begin 1 ms apart, so that there are several.
//
// The server knows of each request two times that its exchange lies between, as `exchanges` does.
#define _GNU_SOURCE
#include "common/truth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    most_connections = 64,
    light_us = 50,
    hard_us = 3000,
    light_delay_us = 2000,
    hard_delay_us = 40000,
    between_batches_us = 1000,
};

struct message {
    uint32_t connection, hard;
    uint64_t before_ns;
};

static uint64_t connections = 16, slow_ms = 30;
static bool shared, per_request, batch;
static int listener, upstream_listener, client_go[2], events_fd;
static const char* unix_path = "";
static union address {
    struct sockaddr any;
    struct sockaddr_in ip;
    struct sockaddr_un file;
} address, upstream_address;
static socklen_t upstream_size;
static pid_t client, upstream;
static uint64_t served, difficult, slow_light, inside_ns, around_ns, longest_around_ns;
static uint64_t thinking_ns; // of the loop's thread
// The server's connections, by the client's number; the upstream's of each, -1: not made yet.
static int client_fds[most_connections], upstream_fds[most_connections];
static struct message asked[most_connections];
static uint64_t received_ns[most_connections];

TIMED void think_before(void) {
    truth_spin_us(light_us);
}
TIMED void think(void) {
    truth_spin_us(light_us);
}
TIMED void think_hard(void) {
    truth_spin_us(hard_us);
}

static bool send_whole(int fd, const struct message* message) {
    return send(fd, message, sizeof *message, MSG_NOSIGNAL) == sizeof *message;
}
static bool receive_whole(int fd, struct message* message) {
    return recv(fd, message, sizeof *message, MSG_WAITALL) == sizeof *message;
}
static void send_at_once(int fd) {
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}
static void watch(int fd, uint64_t number, uint32_t what) {
    struct epoll_event event = {.events = what, .data.u64 = number};
    if (epoll_ctl(events_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        epoll_ctl(events_fd, EPOLL_CTL_MOD, fd, &event);
}

// The upstream: a thread for each request, so that none waits for another.
struct delayed {
    int fd;
    struct message message;
};
static void* answer_later(void* later) {
    struct delayed delayed = *(struct delayed*)later;
    free(later);
    truth_sleep_us(delayed.message.hard ? hard_delay_us : light_delay_us);
    send_whole(delayed.fd, &delayed.message);
    return 0;
}
static void* hear_one(void* fd) {
    struct delayed delayed = {.fd = (int)(intptr_t)fd};
    while (receive_whole(delayed.fd, &delayed.message)) {
        struct delayed* later = malloc(sizeof *later);
        pthread_t thread;
        *later = delayed;
        if (pthread_create(&thread, 0, answer_later, later) == 0)
            pthread_detach(thread);
    }
    close(delayed.fd);
    return 0;
}
static void be_upstream(void) {
    for (;;) {
        const int fd = accept(upstream_listener, 0, 0);
        pthread_t thread;
        if (fd < 0)
            continue;
        send_at_once(fd);
        if (pthread_create(&thread, 0, hear_one, (void*)(intptr_t)fd) == 0)
            pthread_detach(thread);
    }
}

static bool client_failed;
static void* be_client(void* number) {
    struct message message = {.connection = (uint32_t)(uintptr_t)number};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    send_at_once(fd);
    if (connect(fd, &address.any, sizeof address.ip) != 0)
        client_failed = true;
    for (uint64_t i = 0; i < truth_calls() && !client_failed; ++i) {
        struct message answer;
        message.hard = (i + message.connection) % 20 == 19;
        message.before_ns = truth_now();
        if (!send_whole(fd, &message) || !receive_whole(fd, &answer))
            client_failed = true;
    }
    close(fd);
    return 0;
}
static void be_clients(void) {
    pthread_t threads[most_connections];
    char go;
    if (read(client_go[0], &go, 1) != 1)
        _exit(1);
    for (uint64_t i = 0; i < connections; ++i)
        pthread_create(&threads[i], 0, be_client, (void*)(uintptr_t)i);
    for (uint64_t i = 0; i < connections; ++i)
        pthread_join(threads[i], 0);
    _exit(client_failed);
}

// The server. Events are numbered: clients' connections from 0, upstream's from most_connections.
// False: it is not connected yet.
static bool connect_upstream(int flags, int* fd) {
    *fd = socket(upstream_address.any.sa_family, SOCK_STREAM | flags, 0);
    send_at_once(*fd);
    if (connect(*fd, &upstream_address.any, upstream_size) == 0)
        return true;
    if (errno == EINPROGRESS)
        return false;
    perror("upstreams");
    exit(1);
}

static void ask(uint32_t number) {
    int* fd = &upstream_fds[shared ? 0 : number];
    const bool is_new = *fd < 0, is_there = !is_new || connect_upstream(SOCK_NONBLOCK, fd);
    if (is_new)
        watch(*fd, most_connections + number, is_there ? EPOLLIN : EPOLLOUT);
    if (is_there)
        truth_expect(send_whole(*fd, &asked[number]), "the upstream is asked");
}

static uint32_t batched[most_connections];
static uint64_t batched_count;

static void take_request(uint32_t number) {
    if (!receive_whole(client_fds[number], &asked[number])) {
        close(client_fds[number]);
        client_fds[number] = -1;
        return;
    }
    received_ns[number] = truth_now();
    asked[number].connection = number;
    think_before();
    thinking_ns += truth_now() - received_ns[number];
    if (batch)
        batched[batched_count++] = number;
    else
        ask(number);
}

static void take_answer(int fd) {
    struct message answer;
    if (!receive_whole(fd, &answer) || answer.connection >= connections)
        return;
    const uint64_t received = truth_now();
    if (answer.hard)
        think_hard();
    else
        think();
    const uint64_t last = truth_now();
    thinking_ns += last - received;
    truth_expect(send_whole(client_fds[answer.connection], &answer), "the client is there");
    const uint64_t around = truth_now() - answer.before_ns;
    served++;
    difficult += answer.hard;
    slow_light += !answer.hard && around > slow_ms * 1000000;
    inside_ns += last - received_ns[answer.connection];
    around_ns += around;
    if (per_request) {
        close(fd);
        upstream_fds[answer.connection] = -1;
    }
    if (around > longest_around_ns)
        longest_around_ns = around;
}

static void hear_upstream(uint32_t number, uint32_t what) {
    const int fd = upstream_fds[shared ? 0 : number];
    if (what & EPOLLOUT) { // only now it is there
        watch(fd, most_connections + number, EPOLLIN);
        truth_expect(send_whole(fd, &asked[number]), "the upstream is asked");
    } else {
        take_answer(fd);
    }
}

static void serve(void) {
    uint64_t open = connections;
    while (open > 0) {
        struct epoll_event events[2 * most_connections];
        if (batch)
            truth_sleep_us(between_batches_us);
        const int ready = epoll_wait(events_fd, events, 2 * most_connections, -1);
        for (int i = 0; i < ready; ++i) {
            const uint32_t number = (uint32_t)events[i].data.u64;
            if (number >= most_connections) {
                hear_upstream(number - most_connections, events[i].events);
                continue;
            }
            take_request(number);
            open -= client_fds[number] < 0;
        }
        for (uint64_t i = 0; i < batched_count; ++i)
            ask(batched[i]);
        batched_count = 0;
    }
}

// At `path`, or on a port of its own.
static int listen_at(const char* path, union address* at, socklen_t* size) {
    const int fd = socket(*path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (*path) {
        at->file.sun_family = AF_UNIX;
        strncpy(at->file.sun_path, path, sizeof at->file.sun_path - 1);
        *size = sizeof at->file;
    } else {
        at->ip.sin_family = AF_INET;
        at->ip.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *size = sizeof at->ip;
    }
    if (bind(fd, &at->any, *size) != 0 || listen(fd, most_connections) != 0 ||
        (!*path && getsockname(fd, &at->any, size) != 0)) {
        perror("upstreams");
        exit(1);
    }
    return fd;
}

static pid_t start(void (*be)(void)) {
    const pid_t child = fork();
    if (child != 0)
        return child;
    truth_in_child();
    prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever kills the server does not know of it
    be();
    _exit(1);
}

static void prepare(void) {
    if (connections > most_connections)
        connections = most_connections;
    socklen_t size;
    listener = listen_at("", &address, &size);
    upstream_listener = listen_at(unix_path, &upstream_address, &upstream_size);
    if (pipe(client_go) != 0)
        exit(1);
    upstream = start(be_upstream);
    client = start(be_clients);
    events_fd = epoll_create1(0);
    for (uint64_t i = 0; i < connections; ++i)
        upstream_fds[i] = -1;
    if (shared) {
        connect_upstream(0, &upstream_fds[0]);
        watch(upstream_fds[0], most_connections, EPOLLIN);
    }
}

static void report(FILE* out) {
    fprintf(out,
            ",\"port\":%d,\"served\":%" PRIu64 ",\"difficult\":%" PRIu64 ",\"slow_light\":%" PRIu64
            ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64 ",\"longest_around_ns\":%" PRIu64
            ",\"thinking_ns\":%" PRIu64,
            ntohs(address.ip.sin_port), served, difficult, slow_light, inside_ns, around_ns,
            longest_around_ns, thinking_ns);
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"connections", TRUTH_NUMBER, &connections, "of clients, at most 64"},
        {"shared", TRUTH_FLAG, &shared, "one connection to the upstream is for all of them"},
        {"per-request", TRUTH_FLAG, &per_request, "each request has a connection of its own"},
        {"batch", TRUTH_FLAG, &batch, "what comes in one turn is asked at its end"},
        {"unix", TRUTH_TEXT, &unix_path, "where the upstream listens, not on TCP"},
        {"slow-ms", TRUTH_NUMBER, &slow_ms, "beyond which a light request counts as slow"},
    };
    const struct truth_program program = {
        .name = "upstreams",
        .about = "an event loop that asks another server",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .report = report,
        .prepare = prepare,
        .calls = 100, // of each connection
    };
    truth_start(argc, argv, &program);
    if (write(client_go[1], "g", 1) != 1)
        return 1;
    for (uint64_t i = 0; i < connections; ++i) {
        client_fds[i] = accept(listener, 0, 0);
        send_at_once(client_fds[i]);
        watch(client_fds[i], i, EPOLLIN);
    }
    serve();
    int status = 0;
    waitpid(client, &status, 0);
    truth_expect(status == 0, "the clients had their answers");
    kill(upstream, SIGKILL);
    waitpid(upstream, 0, 0);
    return truth_finish();
}
