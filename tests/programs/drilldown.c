// SPDX-License-Identifier: GPL-3.0-or-later
//
// A C program to drill down into: `handle` takes a branch for metered requests, `fetch` receives
// twice there, and only the second answer may be late; `note` waits for a lock that a thread named
// `keeper` holds now and then; `describe` takes arguments of many kinds. It knows of every call
// what was passed, what came back and when, and writes it to the file of --log, one object of JSON
// a line, each function's calls under its name.
#define _GNU_SOURCE
#include "common/clocks.h"
#include "common/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { worker_count = 3, late_us = 4000, hold_us = 5000, hold_every_us = 60000 };

enum request_type { REQUEST_PLAIN, REQUEST_METERED, REQUEST_BULK };

struct req {
    enum request_type type;
    uint32_t len;
    const char* name;
    unsigned urgent : 1;
    unsigned weight : 5;
    int balance : 6; // may be negative
    uint64_t id;
};

struct answer {
    uint64_t id;
    uint32_t late; // 1: the server took its time
    uint32_t amount;
};

static const char* log_path;
static FILE* log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static uint64_t handled, branch_taken, recv_found, recv_amount, recv_amount_late, recv_extra,
    lock_waits, described, described_failed, noted;
static bool keeper_ends;

struct worker {
    int number, server, far_end;
    pthread_t thread, peer;
};

// One call, from just before it to just after, and how often the thread waited in it.
struct span {
    uint64_t start, end, waits;
};

static struct span begin_span(void) {
    return (struct span){.waits = waits_now(), .start = truth_now()};
}

static void end_span(struct span* span) {
    span->end = truth_now();
    span->waits = waits_now() - span->waits;
}

static void log_begin(const char* function, struct span span) {
    pthread_mutex_lock(&log_lock);
    fprintf(log_file, "{\"function\":\"%s\",\"tid\":%d,\"start\":%" PRIu64 ",\"end\":%" PRIu64,
            function, (int)gettid(), span.start, span.end);
}

static void log_end(void) {
    fprintf(log_file, "}\n");
    pthread_mutex_unlock(&log_lock);
}

static void log_received(const char* site, struct span span, int fd, size_t wanted, ssize_t got,
                         int error) {
    if (!log_file)
        return;
    log_begin("recv", span);
    fprintf(log_file,
            ",\"site\":\"%s\",\"fd\":%d,\"requested\":%zu,\"returned\":%zd,\"errno\":%d,\"waits\":"
            "%" PRIu64,
            site, fd, wanted, got, got < 0 ? error : 0, span.waits);
    log_end();
}

// Three recv of one shape: an answer at once, one that may be late, and one that finds nothing.
TIMED uint32_t fetch(int server, const struct req* req) {
    struct answer found = {0}, amount = {0};
    struct span span;
    char extra[32];
    truth_expect(send(server, &req->id, sizeof req->id, 0) == sizeof req->id, "send failed");

    span = begin_span();
    ssize_t got = recv(server, &found, sizeof found, MSG_WAITALL); // RECV found
    end_span(&span);
    truth_count(&recv_found);
    log_received("found", span, server, sizeof found, got, errno);

    span = begin_span();
    got = recv(server, &amount, sizeof amount, MSG_WAITALL); // RECV amount
    end_span(&span);
    truth_count(&recv_amount);
    truth_add(&recv_amount_late, amount.late);
    log_received("amount", span, server, sizeof amount, got, errno);

    const size_t room = 1 + req->len % sizeof extra;
    span = begin_span();
    got = recv(server, extra, room, MSG_DONTWAIT); // RECV extra
    const int error = errno;
    end_span(&span);
    truth_count(&recv_extra);
    truth_expect(got == -1 && error == EAGAIN, "there was more to receive");
    log_received("extra", span, server, room, got, error);

    truth_expect(found.id == req->id && amount.id == req->id, "an answer to another question");
    return amount.amount;
}

TIMED void note(const struct req* req) {
    uint64_t waited = 0;
    struct span span = {truth_now(), 0};
    if (pthread_mutex_trylock(&shared) != 0) {
        const uint64_t start = truth_now();
        pthread_mutex_lock(&shared); // LOCK shared
        waited = truth_now() - start;
        truth_count(&lock_waits);
    }
    noted += req->len;
    pthread_mutex_unlock(&shared);
    span.end = truth_now();
    if (!log_file)
        return;
    log_begin("note", span);
    fprintf(log_file, ",\"id\":%" PRIu64 ",\"lock_wait_ns\":%" PRIu64, req->id, waited);
    log_end();
}

// Fails with ERANGE for a negative count.
TIMED long describe(int count, unsigned mask, const void* where, const char* text,
                    enum request_type type, const struct req* req) {
    errno = 0;
    if (count < 0) {
        errno = ERANGE;
        return -1;
    }
    return count + (long)(mask & 0xff) + (long)strlen(text) + (where ? type : 0) +
           (long)req->weight;
}

static void call_describe(const struct req* req) {
    const int count = (int)(req->id % 7) - 2;
    const unsigned mask = 0x80000000u | (unsigned)req->id;
    struct span span = {truth_now(), 0};
    const long result = describe(count, mask, req->urgent ? req : NULL, req->name, req->type, req);
    const int error = errno;
    span.end = truth_now();
    truth_count(&described);
    truth_add(&described_failed, result < 0);
    truth_expect((result < 0) == (count < 0), "describe returned nonsense");
    if (!log_file)
        return;
    log_begin("describe", span);
    fprintf(log_file,
            ",\"count\":%d,\"mask\":%u,\"where\":%" PRIuPTR
            ",\"text\":\"%s\",\"type\":%d,\"len\":%" PRIu32
            ",\"urgent\":%u,\"weight\":%u,\"balance\":%d,\"id\":%" PRIu64
            ",\"ret\":%ld,\"errno\":%d",
            count, mask, (uintptr_t)(req->urgent ? req : NULL), req->name, (int)req->type, req->len,
            req->urgent, req->weight, req->balance, req->id, result, error);
    log_end();
}

TIMED int handle(const struct req* req, int server) {
    uint32_t amount = 0;
    call_describe(req);
    if (req->type == REQUEST_METERED)
        amount = fetch(server, req); // BRANCH metered
    if (req->type != REQUEST_BULK)
        note(req);
    return (int)(amount + req->len);
}

// Every third request is metered, and every fifth of these late.
static bool is_metered(uint64_t id) {
    return id % 3 == 1;
}
static bool is_late(uint64_t id) {
    return id % 15 == 1;
}

static struct req request(uint64_t id) {
    static const char* const names[] = {"", "a", "index.html", "statement of account, page 2",
                                        "a name of more than sixty-four bytes, which is more than "
                                        "a profiler may care to show of it"};
    return (struct req){.type = is_metered(id) ? REQUEST_METERED
                                : id % 3 == 2  ? REQUEST_BULK
                                               : REQUEST_PLAIN,
                        .len = (uint32_t)(id * 37 % 5000),
                        .name = names[id % 5],
                        .urgent = id % 4 == 0,
                        .weight = (unsigned)(id % 32),
                        .balance = (int)(id % 64) - 32,
                        .id = id};
}

static void* serve(void* argument) {
    const struct worker* worker = argument;
    uint64_t id;
    truth_name_thread("server");
    while (recv(worker->far_end, &id, sizeof id, MSG_WAITALL) == sizeof id) {
        struct answer answer = {.id = id};
        send(worker->far_end, &answer, sizeof answer, 0);
        answer.amount = (uint32_t)(id % 97);
        answer.late = is_late(id);
        if (answer.late)
            truth_sleep_us(late_us);
        send(worker->far_end, &answer, sizeof answer, 0);
    }
    return NULL;
}

static void* work(void* argument) {
    const struct worker* worker = argument;
    char name[16];
    snprintf(name, sizeof name, "worker-%d", worker->number);
    truth_name_thread(name);
    for (uint64_t done = 0; truth_more(done); ++done) {
        const struct req req = request(done * worker_count + (uint64_t)worker->number);
        struct span span = {truth_now(), 0};
        const int result = handle(&req, worker->server);
        span.end = truth_now();
        truth_count(&handled);
        truth_add(&branch_taken, is_metered(req.id));
        if (!log_file)
            continue;
        log_begin("handle", span);
        fprintf(log_file,
                ",\"id\":%" PRIu64 ",\"type\":%d,\"len\":%" PRIu32
                ",\"branch\":%s,\"late\":%s,\"fd\":%d,\"ret\":%d",
                req.id, (int)req.type, req.len, is_metered(req.id) ? "true" : "false",
                is_late(req.id) ? "true" : "false", worker->server, result);
        log_end();
    }
    return NULL;
}

static void* keep(void* unused) {
    (void)unused;
    truth_name_thread("keeper");
    while (!__atomic_load_n(&keeper_ends, __ATOMIC_RELAXED)) {
        truth_sleep_us(hold_every_us);
        pthread_mutex_lock(&shared);
        truth_sleep_us(hold_us);
        pthread_mutex_unlock(&shared);
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out,
            ",\"handled\":%" PRIu64 ",\"branch_taken\":%" PRIu64 ",\"recv_found\":%" PRIu64
            ",\"recv_amount\":%" PRIu64 ",\"recv_amount_late\":%" PRIu64 ",\"recv_extra\":%" PRIu64
            ",\"lock_waits\":%" PRIu64 ",\"described\":%" PRIu64 ",\"described_failed\":%" PRIu64,
            handled, branch_taken, recv_found, recv_amount, recv_amount_late, recv_extra,
            lock_waits, described, described_failed);
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"log", TRUTH_TEXT, &log_path, "write what every call was passed and returned, as JSON"},
    };
    const struct truth_program program = {
        .name = "drilldown",
        .about = "handles requests; some branch off, some of these are answered late",
        .options = options,
        .option_count = 1,
        .report = report,
        .pause_us = 500};
    struct worker workers[worker_count];
    pthread_t keeper;
    truth_start(argc, argv, &program);
    if (log_path && !(log_file = fopen(log_path, "we"))) {
        perror(log_path);
        return 1;
    }
    pthread_create(&keeper, NULL, keep, NULL);
    for (int i = 0; i < worker_count; ++i) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            perror("socketpair");
            return 1;
        }
        workers[i] = (struct worker){.number = i, .server = ends[0], .far_end = ends[1]};
        pthread_create(&workers[i].peer, NULL, serve, &workers[i]);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < worker_count; ++i) {
        pthread_join(workers[i].thread, NULL);
        shutdown(workers[i].server, SHUT_RDWR);
        pthread_join(workers[i].peer, NULL);
        close(workers[i].server);
        close(workers[i].far_end);
    }
    __atomic_store_n(&keeper_ends, true, __ATOMIC_RELAXED);
    pthread_join(keeper, NULL);
    if (log_file && fclose(log_file) != 0)
        truth_expect(false, "the file of --log could not be written");
    return truth_finish();
}
