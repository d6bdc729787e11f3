// SPDX-License-Identifier: GPL-3.0-or-later
//
// A server whose connections are tasks, as tokio (Rust) has them: two threads poll whatever task is
// ready, each in another way for each kind of request and with a function of its own for its work;
// other tasks work for no request meanwhile. Like tokio it notes in thread-local memory which task
// a thread polls, in a function with the name that tokio's has. Its clients are in the same
// process.
#include "common/truth.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2, CLIENTS = 4, PIECES = 6, PIECE_US = 500, NAP_US = 300 };
enum kind { AT_ONCE, SLEEPING, YIELDING, KINDS, FOR_NOBODY = KINDS };

static uint64_t requests = 60, served;
// How long tasks were polled by nobody in the middle of requests: between leave() and enter(), and
// with these two.
static uint64_t least_parked_ns, most_parked_ns;

// As of tokio's CONTEXT, of which the compiler chooses the order.
static __thread struct {
    uint64_t thread;
    uint8_t runtime;
    uint64_t task; // 0: none
} context __attribute__((tls_model("local-exec")));

uint64_t
enter(uint64_t id) __asm__("_ZN5tokio7runtime4task4core11TaskIdGuard5enter17h0123456789abcdefE");
TIMED uint64_t enter(uint64_t id) {
    const uint64_t before = context.task;
    context.task = id;
    return before;
}

void leave(uint64_t before) __asm__(
    "_ZN81_$LT$tokio..runtime..task..core..TaskIdGuard$u20$as$u20$core..ops..drop..Drop$GT$"
    "4drop17h0123456789abcdefE");
TIMED void leave(uint64_t before) {
    context.task = before;
}

struct task {
    struct task* next; // of those that are ready, or asleep
    uint64_t id, wakes_ns;
    int fd; // -1: it works for nobody
    enum kind kind;
    int pieces; // that are left of the request; 0: it waits for one
    // When it was last left: before and behind leave().
    uint64_t leaving_ns, left_ns;
};

struct list {
    struct task *first, **last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static struct list ready = {NULL, &ready.first}, asleep = {NULL, &asleep.first};
static int epoll;

static void append(struct list* list, struct task* task) {
    task->next = NULL;
    *list->last = task;
    list->last = &task->next;
}

static struct task* take_first(struct list* list) {
    struct task* task = list->first;
    list->first = task->next;
    if (!list->first)
        list->last = &list->first;
    return task;
}

static void wake(struct task* task) {
    pthread_mutex_lock(&lock);
    append(&ready, task);
    pthread_cond_signal(&is_ready);
    pthread_mutex_unlock(&lock);
}

// All sleep equally long, so who sleeps the longest is the first.
static void sleep_task(struct task* task) {
    task->wakes_ns = truth_now() + NAP_US * 1000;
    pthread_mutex_lock(&lock);
    append(&asleep, task);
    pthread_mutex_unlock(&lock);
}

static void wake_sleepers(void) {
    pthread_mutex_lock(&lock);
    while (asleep.first && asleep.first->wakes_ns <= truth_now()) {
        append(&ready, take_first(&asleep));
        pthread_cond_signal(&is_ready);
    }
    pthread_mutex_unlock(&lock);
}

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static void await_request(struct task* task) {
    struct epoll_event event = {EPOLLIN | EPOLLONESHOT, {.ptr = task}};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, task->fd, &event) < 0)
        fail("epoll_ctl");
}

TIMED void work_at_once(void) {
    truth_spin_us(PIECES * PIECE_US);
}
TIMED void work_sleeping(void) {
    truth_spin_us(PIECE_US);
}
TIMED void work_yielding(void) {
    truth_spin_us(PIECE_US);
}
TIMED void work_for_nobody(void) {
    truth_spin_us(100);
}

// No parameter of these is named `task`: that is what tests ask for of the thread.
TIMED void take_up(struct task* it) {
    it->pieces = it->kind == AT_ONCE ? 1 : PIECES;
}

TIMED void answer(struct task* it) {
    truth_count(&served);
    if (send(it->fd, "done", 4, MSG_NOSIGNAL) != 4)
        fail("send");
}

static void end_task(struct task* task) {
    close(task->fd);
    free(task);
}

// Who has the task next: it is handed over when nobody polls it any more.
typedef void next(struct task* task);

static next* poll_task(struct task* task) {
    char request[4];
    if (task->kind == FOR_NOBODY) {
        work_for_nobody();
        return sleep_task;
    }
    if (!task->pieces) {
        const ssize_t size = recv(task->fd, request, sizeof request, MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN)
            return await_request;
        if (size != sizeof request)
            return end_task;
        take_up(task);
    }
    if (task->kind == AT_ONCE)
        work_at_once();
    else if (task->kind == SLEEPING)
        work_sleeping();
    else
        work_yielding();
    if (!--task->pieces) {
        answer(task);
        return await_request;
    }
    return task->kind == SLEEPING ? sleep_task : wake;
}

static _Noreturn void* worker(void* unused) {
    (void)unused;
    truth_name_thread("worker");
    context.runtime = 1;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!ready.first)
            pthread_cond_wait(&is_ready, &lock);
        struct task* task = take_first(&ready);
        pthread_mutex_unlock(&lock);
        const uint64_t entering_ns = truth_now(), before = enter(task->id);
        if (task->pieces) {
            truth_add(&least_parked_ns, entering_ns - task->left_ns);
            truth_add(&most_parked_ns, truth_now() - task->leaving_ns);
        }
        next* const next = poll_task(task);
        task->leaving_ns = truth_now();
        leave(before);
        task->left_ns = truth_now();
        next(task);
    }
}

static _Noreturn void* driver(void* unused) {
    (void)unused;
    truth_name_thread("driver");
    for (;;) {
        struct epoll_event events[64];
        const int count = epoll_wait(epoll, events, 64, 1);
        for (int i = 0; i < count; i++)
            wake(events[i].data.ptr);
        wake_sleepers();
    }
}

static struct task* new_task(enum kind kind, int fd) {
    static uint64_t tasks;
    struct task* task = calloc(1, sizeof *task);
    task->id = ++tasks;
    task->kind = kind;
    task->fd = fd;
    return task;
}

static void start(void* (*function)(void*), void* argument, pthread_t* thread) {
    pthread_t unused;
    if (pthread_create(thread ? thread : &unused, NULL, function, argument) != 0)
        fail("pthread_create");
}

static void* client(void* argument) {
    const int fd = *(int*)argument;
    char reply[4];
    for (uint64_t i = 0; i < requests; i++)
        if (send(fd, "work", 4, MSG_NOSIGNAL) != 4 || recv(fd, reply, 4, MSG_WAITALL) != 4)
            fail("a client");
    close(fd);
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"served\":%llu,\"least_parked_ns\":%llu,\"most_parked_ns\":%llu",
            (unsigned long long)truth_read(&served),
            (unsigned long long)truth_read(&least_parked_ns),
            (unsigned long long)truth_read(&most_parked_ns));
}

static const struct truth_option options[] = {
    {"requests", TRUTH_NUMBER, &requests, "of each client"},
};

int main(int argc, char** argv) {
    const struct truth_program program = {
        .name = "tokio_tasks",
        .about = "a server whose connections are tasks that threads poll in turn",
        .options = options,
        .option_count = 1,
        .report = report,
    };
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    epoll = epoll_create1(0);
    if (listener < 0 || bind(listener, (struct sockaddr*)&address, size) < 0 ||
        listen(listener, 64) < 0 || getsockname(listener, (struct sockaddr*)&address, &size) < 0)
        fail("a socket");
    truth_start(argc, argv, &program);
    pthread_t clients[KINDS * CLIENTS];
    int fds[KINDS * CLIENTS];
    for (int i = 0; i < KINDS * CLIENTS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fds[i], (struct sockaddr*)&address, size) < 0)
            fail("connect");
        struct task* task = new_task((enum kind)(i % KINDS), accept(listener, NULL, NULL));
        struct epoll_event event = {EPOLLIN | EPOLLONESHOT, {.ptr = task}};
        if (task->fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, task->fd, &event) < 0)
            fail("accept");
    }
    start(driver, NULL, NULL);
    for (int i = 0; i < WORKERS; i++) {
        start(worker, NULL, NULL);
        wake(new_task(FOR_NOBODY, -1));
    }
    for (int i = 0; i < KINDS * CLIENTS; i++)
        start(client, &fds[i], &clients[i]);
    for (int i = 0; i < KINDS * CLIENTS; i++)
        pthread_join(clients[i], NULL);
    return truth_finish();
}
