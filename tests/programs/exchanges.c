// SPDX-License-Identifier: GPL-3.0-or-later
//
// A server of its own protocol on a TCP port, or a unix socket, and its clients, which are another
// process: each sends a request of 64 bytes and waits for the answer of 64, which comes in two
// parts. Every twentieth is difficult. The server knows for each exchange two times that it lies
// between: `inside`, from behind the receive to before the last send, and `around`, from before the
// client's send (which the request says) to behind the last send.
//
// A thread serves a connection, and thinks a little when it has answered; with `--loop` one thread
// serves all of them, and answers when it has thought about all that had come.
//
// What no exchange is, or nobody can tell: `--greet` (the server speaks first), `--pipeline` (ten
// requests at once, read one by one), `--push N` (the server goes on sending when nobody has
// asked),
// `--first-bytes tls` and `http2` (how the connection begins), `--later-bytes` (how each request
// does). `--stall-ms N`: answers are large, and the client waits that long before it reads.
// `--fastcgi`: requests are in records of FastCGI, the last of which, as PHP does it, is
// received when they have been answered;
// `--fastcgi-apart`: that one is sent by itself, when the first part of the answer is there.
// `--before N`: so many requests of each connection, but one, are over, and the connections there,
// before `ready`.
#define _GNU_SOURCE
#include "common/truth.h"
#include "large_answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    most_connections = 20000,
    most_client_threads = 64,
    in_pipeline = 10,
    header_bytes = 16,
    light_us = 50,
    hard_us = 3000,
    push_after_ms = 250,
};

struct request {
    uint32_t kind; // 1: difficult; 2: has no answer, since the client resets the connection
    uint32_t id;
    uint64_t before_ns;
    char rest[48];
};
struct answer {
    char bytes[64];
};

// One exchange, as the server knows it.
struct times {
    uint64_t inside_ns, around_ns;
};

static uint64_t connections = 4, port, before, push, stall_ms, kill_after, exit_after;
static bool loop, greet, pipeline, reset, fastcgi, fastcgi_apart, spin;
static const char *first_bytes = "", *later_bytes = "", *unix_path = "";
static int listener, client_go[2], connection_of[most_connections];
static pid_t client;
static uint64_t served, difficult, pushes, greetings, longest_around_ns;
static uint64_t inside_ns, around_ns;
static struct times* times;
static uint64_t most_times;
// Of requests that have no answer, how many the server has: shared with the clients.
static uint64_t* unanswered;

TIMED void think(void) {
    truth_spin_us(light_us);
}
TIMED void think_hard(void) {
    truth_spin_us(hard_us);
}
TIMED void think_between(void) {
    truth_spin_us(light_us);
}
TIMED void think_afterwards(void) {
    truth_spin_us(2 * light_us);
}

static bool send_whole(int fd, const void* bytes, size_t size) {
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive_whole(int fd, void* bytes, size_t size) {
    while (spin && recv(fd, bytes, size, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
        sched_yield();
    return recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

// Of the CPUs that the process may have, the one with this number; all, if there are not so many.
static void keep_to_cpu(int number) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && number-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

// Records of FastCGI: that a request begins, parameters, of which the request is one, and that no
// body follows.
static const uint8_t fastcgi_begin[24] = {
    1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 4, 0, 1, 0, sizeof(struct request), 0, 0};
static const uint8_t fastcgi_end[8] = {1, 5, 0, 1};

static bool receive_fastcgi(int fd) {
    uint8_t record[8], rest[16];
    do
        if (!receive_whole(fd, record, sizeof record))
            return false;
    while (record[1] == fastcgi_end[1]);
    return receive_whole(fd, rest, sizeof rest);
}

static void note(const struct request* request, uint64_t received, uint64_t last, uint64_t sent) {
    const uint64_t number = __atomic_fetch_add(&served, 1, __ATOMIC_SEQ_CST);
    const struct times known = {last - received, sent - request->before_ns};
    uint64_t longest = truth_read(&longest_around_ns);
    truth_add(&inside_ns, known.inside_ns);
    truth_add(&around_ns, known.around_ns);
    if (request->kind == 1)
        truth_count(&difficult);
    while (known.around_ns > longest &&
           !__atomic_compare_exchange_n(&longest_around_ns, &longest, known.around_ns, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    if (number < most_times)
        times[number] = known;
    if (kill_after && number + 1 == kill_after)
        kill(client, SIGKILL);
    if (exit_after && number + 1 == exit_after)
        _exit(0);
}

static bool serve(int fd) {
    struct request request;
    struct answer answer = {{0}};
    if ((fastcgi && !receive_fastcgi(fd)) || !receive_whole(fd, &request, sizeof request))
        return false;
    const uint64_t received = truth_now();
    if (request.kind == 2) {
        struct pollfd gone = {.fd = fd, .events = 0};
        truth_count(unanswered);
        poll(&gone, 1, -1);
        return false;
    }
    if (request.kind == 1)
        think_hard();
    else
        think();
    if (!send_whole(fd, answer.bytes, header_bytes))
        return false;
    think_between();
    const uint64_t last = truth_now();
    if (!send_whole(fd, answer.bytes + header_bytes, sizeof answer - header_bytes) ||
        (stall_ms && !send_large(fd)))
        return false;
    note(&request, received, last, truth_now());
    if (!spin)
        think_afterwards();
    return true;
}

static void* serve_connection(void* number) {
    const int fd = connection_of[(uintptr_t)number];
    struct answer answer = {{0}};
    if (greet && send_whole(fd, answer.bytes, header_bytes))
        truth_count(&greetings);
    while (serve(fd)) {
        for (uint64_t i = 0; i < push; ++i) {
            struct pollfd asked = {.fd = fd, .events = POLLIN};
            if (poll(&asked, 1, push_after_ms) == 0 && send_whole(fd, answer.bytes, header_bytes))
                truth_count(&pushes);
        }
    }
    close(fd);
    return 0;
}

// All that has come is thought about, and then answered.
static void serve_all_by_one(void) {
    const int events_fd = epoll_create1(0);
    uint64_t open = 0;
    for (; open < connections; ++open) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = connection_of[open]};
        epoll_ctl(events_fd, EPOLL_CTL_ADD, connection_of[open], &event);
    }
    enum { at_once = 64 };
    while (open > 0) {
        struct epoll_event events[at_once];
        struct request requests[at_once];
        uint64_t received[at_once];
        bool asked[at_once];
        const int ready = epoll_wait(events_fd, events, at_once, -1);
        for (int i = 0; i < ready; ++i) {
            asked[i] = receive_whole(events[i].data.fd, &requests[i], sizeof requests[i]);
            received[i] = truth_now();
            if (asked[i] && requests[i].kind == 1)
                think_hard();
            else if (asked[i])
                think();
        }
        for (int i = 0; i < ready; ++i) {
            struct answer answer = {{0}};
            const uint64_t last = truth_now();
            if (asked[i] && send_whole(events[i].data.fd, &answer, sizeof answer)) {
                note(&requests[i], received[i], last, truth_now());
            } else {
                close(events[i].data.fd);
                --open;
            }
        }
    }
    close(events_fd);
}

// The client's side.

static union {
    struct sockaddr any;
    struct sockaddr_in ip;
    struct sockaddr_un file;
} address;
static socklen_t address_size;
static bool connected_before;

static void ask_by_fastcgi(int fd, const struct request* request, struct answer* answer) {
    uint8_t records[sizeof fastcgi_begin + sizeof *request + sizeof fastcgi_end];
    const size_t size = sizeof records - (fastcgi_apart ? sizeof fastcgi_end : 0);
    memcpy(records, fastcgi_begin, sizeof fastcgi_begin);
    memcpy(records + sizeof fastcgi_begin, request, sizeof *request);
    memcpy(records + sizeof records - sizeof fastcgi_end, fastcgi_end, sizeof fastcgi_end);
    if (!send_whole(fd, records, size) || !receive_whole(fd, answer->bytes, header_bytes) ||
        (fastcgi_apart && !send_whole(fd, fastcgi_end, sizeof fastcgi_end)) ||
        !receive_whole(fd, answer->bytes + header_bytes, sizeof *answer - header_bytes))
        exit(1);
}

static void ask(int fd, uint64_t id) {
    struct request requests[in_pipeline];
    struct answer answers[in_pipeline];
    const size_t count = pipeline ? in_pipeline : 1;
    memset(requests, 0, sizeof requests);
    for (size_t i = 0; i < count; ++i) {
        requests[i].kind = id % 20 == 19;
        requests[i].id = id;
    }
    if (id == 0 && !strcmp(first_bytes, "tls"))
        memcpy(requests, "\x16\x03\x01\x02", 4);
    if (id == 0 && !strcmp(first_bytes, "http2"))
        memcpy(requests, "PRI * HT", 8);
    for (size_t i = 0; i < count; ++i)
        requests[i].before_ns = truth_now();
    // A record of application data; a HEADERS frame of the first stream.
    if (!strcmp(later_bytes, "tls"))
        memcpy(requests, "\x17\x03\x03\x00\x3b", 5);
    if (!strcmp(later_bytes, "http2"))
        memcpy(requests, "\x00\x00\x37\x01\x05\x00\x00\x00\x01", 9);
    if (fastcgi) {
        ask_by_fastcgi(fd, requests, answers);
        return;
    }
    if (!send_whole(fd, requests, count * sizeof *requests) ||
        !receive_whole(fd, answers, count * sizeof *answers) ||
        (stall_ms && !receive_large(fd, stall_ms)))
        exit(1);
}

static int connect_one(void) {
    const int fd = socket(address.any.sa_family, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, &address.any, address_size) != 0)
        exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void ask_all_on(int fd) {
    struct answer greeting;
    if (greet && !receive_whole(fd, &greeting, header_bytes))
        exit(1);
    for (uint64_t id = before; !truth_calls() || id < truth_calls(); ++id)
        ask(fd, id);
    for (uint64_t i = 0; i < push; ++i)
        if (!receive_whole(fd, &greeting, header_bytes))
            exit(1);
}

// The server has received the request when the connection is reset.
static void ask_and_reset(int fd) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct request request = {.kind = 2};
    const struct linger at_once = {.l_onoff = 1};
    pthread_mutex_lock(&lock);
    const uint64_t former = truth_read(unanswered);
    if (!send_whole(fd, &request, sizeof request))
        exit(1);
    while (truth_read(unanswered) == former)
        truth_sleep_us(100);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
    pthread_mutex_unlock(&lock);
}

static void* be_client(void* number) {
    const int fd = connection_of[(uintptr_t)number];
    ask_all_on(fd);
    if (reset)
        ask_and_reset(fd);
    return 0;
}

static void be_clients(void) {
    if (connected_before)
        for (uint64_t i = 0; i < connections; ++i) {
            connection_of[i] = connect_one();
            for (uint64_t id = 0; id < before; ++id)
                ask(connection_of[i], id);
        }
    char go;
    if (read(client_go[0], &go, 1) != 1)
        exit(1);
    if (!connected_before)
        for (uint64_t i = 0; i < connections; ++i)
            connection_of[i] = connect_one();
    if (connections <= most_client_threads) {
        pthread_t threads[most_client_threads];
        for (uint64_t i = 0; i < connections; ++i)
            pthread_create(&threads[i], 0, be_client, (void*)(uintptr_t)i);
        for (uint64_t i = 0; i < connections; ++i)
            pthread_join(threads[i], 0);
    } else {
        for (uint64_t i = 0; i < connections; ++i)
            ask_all_on(connection_of[i]);
    }
    exit(0);
}

static void accept_all(uint64_t answered) {
    const int one = 1;
    for (uint64_t i = 0; i < connections; ++i) {
        connection_of[i] = accept(listener, 0, 0);
        if (connection_of[i] < 0)
            return;
        setsockopt(connection_of[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (uint64_t id = 0; id < answered; ++id)
            serve(connection_of[i]);
    }
}

static void choose_address(void) {
    if (*unix_path) {
        const size_t length = strlen(unix_path);
        if (length >= sizeof address.file.sun_path) {
            fprintf(stderr, "exchanges: %s is too long\n", unix_path);
            exit(1);
        }
        address.file.sun_family = AF_UNIX;
        memcpy(address.file.sun_path, unix_path, length);
        address_size = offsetof(struct sockaddr_un, sun_path) + length;
        if (*unix_path == '@')
            address.file.sun_path[0] = 0; // a name that is no file's, without a zero behind it
        else
            unlink(unix_path);
        return;
    }
    address.ip.sin_family = AF_INET;
    address.ip.sin_port = htons(port);
    address.ip.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_size = sizeof address.ip;
}

static void prepare(void) {
    unanswered =
        mmap(0, sizeof *unanswered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (unanswered == MAP_FAILED) {
        perror("exchanges");
        exit(1);
    }
    const struct rlimit files = {most_connections + 100, most_connections + 100};
    const int one = 1;
    setrlimit(RLIMIT_NOFILE, &files);
    if (connections > most_connections)
        connections = most_connections;
    most_times = connections * truth_calls() <= 2000 ? connections * truth_calls() : 0;
    times = calloc(most_times + 1, sizeof *times);
    choose_address();
    listener = socket(address.any.sa_family, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, &address.any, address_size) != 0 || listen(listener, 4096) != 0 ||
        (!*unix_path && getsockname(listener, &address.any, &address_size) != 0) ||
        pipe(client_go) != 0) {
        perror("exchanges");
        exit(1);
    }
    connected_before = before > 0 || exit_after > 0;
    if (spin)
        prctl(PR_SET_NAME, "spinning");
    client = fork();
    if (client == 0) {
        truth_in_child();
        if (spin)
            keep_to_cpu(1);
        spin = false;
        prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever kills the server does not know of it
        be_clients();
    }
    if (spin)
        keep_to_cpu(0);
    if (connected_before) {
        accept_all(before);
        served = difficult = inside_ns = around_ns = longest_around_ns = 0;
    }
}

static void report(FILE* out) {
    fprintf(out,
            ",\"port\":%d,\"served\":%" PRIu64 ",\"difficult\":%" PRIu64 ",\"pushes\":%" PRIu64
            ",\"greetings\":%" PRIu64 ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64
            ",\"longest_around_ns\":%" PRIu64 ",\"unanswered\":%" PRIu64 ",\"times\":[",
            *unix_path ? 0 : ntohs(address.ip.sin_port), served, difficult, pushes, greetings,
            inside_ns, around_ns, longest_around_ns, truth_read(unanswered));
    for (uint64_t i = 0; i < most_times && i < truth_read(&served); ++i)
        fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", times[i].inside_ns,
                times[i].around_ns);
    fprintf(out, "]");
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"connections", TRUTH_NUMBER, &connections, "of clients, at most 20000"},
        {"port", TRUTH_NUMBER, &port, "where the server listens; 0: anywhere"},
        {"unix", TRUTH_TEXT, &unix_path, "where the server listens, not on TCP; @NAME: no file"},
        {"loop", TRUTH_FLAG, &loop, "one thread serves all connections"},
        {"greet", TRUTH_FLAG, &greet, "the server speaks first"},
        {"pipeline", TRUTH_FLAG, &pipeline, "each request is ten"},
        {"push", TRUTH_NUMBER, &push, "sends behind each answer that nobody has asked for"},
        {"first-bytes", TRUTH_TEXT, &first_bytes, "tls or http2"},
        {"later-bytes", TRUTH_TEXT, &later_bytes, "tls or http2"},
        {"stall-ms", TRUTH_NUMBER, &stall_ms, "of the client, before it receives a large answer"},
        {"fastcgi", TRUTH_FLAG, &fastcgi, "requests are FastCGI's; not with --loop or --pipeline"},
        {"fastcgi-apart", TRUTH_FLAG, &fastcgi_apart, "... whose last record is sent by itself"},
        {"spin", TRUTH_FLAG, &spin,
         "the server, on a CPU of its own, looks for what has come, and does not sleep; "
         "all threads are called spinning"},
        {"reset", TRUTH_FLAG, &reset, "the last request of each connection has no answer"},
        {"before", TRUTH_NUMBER, &before, "requests of a connection that are over before `ready`"},
        {"kill-after", TRUTH_NUMBER, &kill_after, "requests, the clients are killed"},
        {"exit-after", TRUTH_NUMBER, &exit_after, "requests, the server exits"},
    };
    const struct truth_program program = {
        .name = "exchanges",
        .about = "a server, and clients that ask it",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .report = report,
        .prepare = prepare,
        .calls = 100, // of each connection
    };
    truth_start(argc, argv, &program);
    if (write(client_go[1], "g", 1) != 1)
        return 1;
    if (!connected_before)
        accept_all(0);
    if (loop) {
        serve_all_by_one();
    } else {
        pthread_t* threads = calloc(connections, sizeof *threads);
        for (uint64_t i = 0; i < connections; ++i)
            pthread_create(&threads[i], 0, serve_connection, (void*)(uintptr_t)i);
        for (uint64_t i = 0; i < connections; ++i)
            pthread_join(threads[i], 0);
    }
    int status = 0;
    waitpid(client, &status, 0);
    truth_expect(kill_after || status == 0, "the clients had their answers");
    return truth_finish();
}
