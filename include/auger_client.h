// SPDX-License-Identifier: 0BSD
//
// A program's own profile, from the auger that observes it.
//
//     #include <auger_client.h>
//
//     // What this process does for ten seconds from now on, for go tool pprof.
//     if (auger_profile("/run/auger.sock", 10, "pprof", fd) < 0)
//         perror("auger_profile");
//
// The socket is where a running auger serves: `serve unix:/run/auger.sock`, or --serve. It answers
// root, the user that it runs as, and who called sudo. It finds out by itself who asks, so this
// works in containers, too; it has to observe the process, whose threads go on meanwhile, but for
// the one that asks. `format` is
//
//     pprof        gzipped profile.proto: go tool pprof, Pyroscope, Parca
//     otlp         OpenTelemetry's ProfilesData
//     collapsed    stacks as text, a line each, with a count
//     perf-script  the text of perf script, of wall-clock time; all others are of CPU time
//
// auger_profile_or_why() also says in words what is wrong, as auger itself does.
//
// There is nothing to link. C99, C++11 and later; POSIX.
#ifndef AUGER_CLIENT_H
#define AUGER_CLIENT_H

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// How long an answer may be awaited once the time is over: names, and its turn to be written.
#define AUGER_CLIENT_PATIENCE_ 75 // seconds

struct auger_client_ {
    int socket;
    long deadline; // in seconds of auger_client_now_()
    char* why;     // may be null
    size_t why_size;
    char bytes[4096]; // that have come: those from `next` to `end` are not read yet
    size_t next, end;
};

// -1, for who returns it.
static inline int auger_client_fail_(struct auger_client_* client, int error, const char* why) {
    if (client->why && client->why_size > 0)
        snprintf(client->why, client->why_size, "%s", why);
    errno = error;
    return -1;
}

static inline long auger_client_now_(void) {
#ifdef CLOCK_MONOTONIC
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        return (long)now.tv_sec;
#endif
    return (long)time(NULL);
}

static inline int auger_client_connect_(struct auger_client_* client, const char* path) {
    struct sockaddr_un address;
    int flags = SOCK_STREAM;
#ifdef SOCK_CLOEXEC
    flags |= SOCK_CLOEXEC;
#endif
    if (strncmp(path, "unix:", 5) == 0) // as `serve` says it
        path += 5;
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof(address.sun_path))
        return auger_client_fail_(client, ENAMETOOLONG, "the path of a socket is shorter");
    if (*path == 0)
        return auger_client_fail_(client, ENOENT, "the socket has no path");
    memcpy(address.sun_path, path, strlen(path) + 1);
    client->socket = socket(AF_UNIX, flags, 0);
    if (client->socket < 0)
        return auger_client_fail_(client, errno, "no socket can be made");
    while (connect(client->socket, (const struct sockaddr*)&address, sizeof(address)) < 0) {
        if (errno == EISCONN)
            break;
        if (errno != EINTR && errno != EALREADY)
            return auger_client_fail_(client, errno, "cannot connect to auger's socket");
    }
    return 0;
}

static inline int auger_client_send_(struct auger_client_* client, const char* text) {
    size_t sent = 0;
    while (sent < strlen(text)) {
        const ssize_t more = send(client->socket, text + sent, strlen(text) - sent, MSG_NOSIGNAL);
        if (more > 0)
            sent += (size_t)more;
        else if (errno != EINTR)
            return auger_client_fail_(client, errno,
                                      "auger has closed the connection: it does "
                                      "not answer this user, or has ended");
    }
    return 0;
}

// Waits for more bytes; -1: there are none.
static inline int auger_client_receive_(struct auger_client_* client) {
    for (;;) {
        const long left = client->deadline - auger_client_now_();
        struct pollfd readable;
        ssize_t got;
        int ready;
        readable.fd = client->socket;
        readable.events = POLLIN;
        readable.revents = 0;
        ready = left > 0 ? poll(&readable, 1, (int)left * 1000) : 0;
        if (ready == 0 && left <= 0)
            return auger_client_fail_(client, ETIMEDOUT, "auger does not answer");
        if (ready < 0 && errno != EINTR)
            return auger_client_fail_(client, errno, "cannot wait for auger's answer");
        if (ready <= 0)
            continue;
        got = recv(client->socket, client->bytes, sizeof(client->bytes), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return auger_client_fail_(client, got < 0 ? errno : ECONNRESET,
                                      "auger has closed the connection before all was there: it "
                                      "does not answer this user, or has ended");
        client->next = 0;
        client->end = (size_t)got;
        return 0;
    }
}

// The next line, without its end, as far as there is room for it.
static inline int auger_client_line_(struct auger_client_* client, char* line, size_t size,
                                     size_t* total) {
    size_t length = 0;
    for (;;) {
        char byte;
        if (client->next == client->end && auger_client_receive_(client) < 0)
            return -1;
        if (++*total > 1 << 20)
            return auger_client_fail_(client, EPROTO, "the answer's head has no end");
        byte = client->bytes[client->next++];
        if (byte == '\n')
            break;
        if (length + 1 < size)
            line[length++] = byte;
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = 0;
    return 0;
}

// A number of at most so many digits, with nothing behind it, or what `ends` has; -1: it is none.
static inline long long auger_client_number_(const char* text, int digits, const char* ends) {
    long long number = 0;
    if (*text < '0' || *text > '9')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (digits-- == 0)
            return -1;
        number = 10 * number + (*text - '0');
    }
    return strchr(ends, *text) ? number : -1; // at its own zero, too
}

// What stands behind the header's name; null: it is another header.
static inline const char* auger_client_header_(const char* line, const char* name) {
    for (; *name; line++, name++)
        if ((*line >= 'A' && *line <= 'Z' ? *line + ('a' - 'A') : *line) != *name)
            return NULL;
    while (*line == ' ' || *line == '\t')
        line++;
    return line;
}

// The answer's status, and how long its body is.
static inline int auger_client_head_(struct auger_client_* client, int* status, long long* size) {
    char line[256];
    size_t total = 0;
    if (auger_client_line_(client, line, sizeof(line), &total) < 0)
        return -1;
    *status = -1;
    *size = -1;
    if (strncmp(line, "HTTP/1.", 7) == 0 && line[7] != 0 && line[8] == ' ')
        *status = (int)auger_client_number_(line + 9, 3, " ");
    if (*status < 100)
        return auger_client_fail_(client, EPROTO, "what answers is not auger");
    for (;;) {
        const char* value;
        if (auger_client_line_(client, line, sizeof(line), &total) < 0)
            return -1;
        if (*line == 0)
            break;
        value = auger_client_header_(line, "content-length:");
        if (value)
            *size = auger_client_number_(value, 18, " \t");
    }
    if (*size < 0)
        return auger_client_fail_(client, EPROTO, "the answer does not say how long it is");
    return 0;
}

static inline int auger_client_write_(struct auger_client_* client, int fd, const char* bytes,
                                      size_t size) {
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);
        if (written >= 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd writable;
            writable.fd = fd;
            writable.events = POLLOUT;
            writable.revents = 0;
            (void)poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return auger_client_fail_(client, errno, "the profile cannot be written");
        }
    }
    return 0;
}

static inline int auger_client_error_(int status) {
    switch (status) {
    case 400:
        return EINVAL;
    case 401:
    case 403:
        return EACCES;
    case 404:
    case 405:
        return EOPNOTSUPP; // an auger that is older than this
    case 409:
        return ESRCH; // it does not observe this process, or nothing at all
    case 503:
        return EAGAIN;
    default:
        return status >= 500 ? EIO : EPROTO;
    }
}

static inline int auger_client_answer_(struct auger_client_* client, int fd) {
    char words[256];
    size_t length = 0;
    int status;
    long long left;
    if (auger_client_head_(client, &status, &left) < 0)
        return -1;
    while (left > 0) {
        size_t here;
        if (client->next == client->end && auger_client_receive_(client) < 0)
            return -1;
        here = client->end - client->next;
        if ((long long)here > left)
            here = (size_t)left;
        left -= (long long)here;
        if (status == 200) {
            if (auger_client_write_(client, fd, client->bytes + client->next, here) < 0)
                return -1;
            client->next += here;
        } else {
            for (; here > 0; here--) {
                const char byte = client->bytes[client->next++];
                const int is_control = (unsigned char)byte < 0x20 || byte == 0x7f;
                if (length + 1 < sizeof(words))
                    words[length++] = (char)(byte == '\n' ? ' ' : is_control ? '?' : byte);
            }
        }
    }
    if (status == 200)
        return 0;
    while (length > 0 && words[length - 1] == ' ')
        length--;
    words[length] = 0;
    return auger_client_fail_(client, auger_client_error_(status), words);
}

// The request for it; -1: there is no such format.
static inline int auger_client_request_(const char* format, unsigned long ms, char* text,
                                        size_t size) {
    const char* path = strcmp(format, "pprof") == 0       ? "/debug/pprof/profile"
                       : strcmp(format, "otlp") == 0      ? "/profile.otlp"
                       : strcmp(format, "collapsed") == 0 ? "/profile.folded"
                                                          : NULL;
    // An answer in one piece is what 1.0 has.
    if (path) {
        snprintf(text, size,
                 "GET %s?seconds=%lu.%03lu&pid=self HTTP/1.0\r\nHost: localhost\r\n\r\n", path,
                 ms / 1000, ms % 1000);
    } else if (strcmp(format, "perf-script") == 0) {
        char body[128];
        snprintf(body, sizeof(body),
                 "{\"numberOfSamples\":%lu,\"timeInterval\":\"10 ms\",\"pid\":\"self\"}",
                 ms < 10 ? 1 : ms / 10);
        snprintf(text, size,
                 "POST /sample HTTP/1.0\r\nHost: localhost\r\nContent-Length: %lu\r\n\r\n%s",
                 (unsigned long)strlen(body), body);
    } else {
        return -1;
    }
    return 0;
}

// Writes the profile to `fd`; where it fails, some of it may be there. 0; or -1, errno, and in
// `why`, of `why_size` bytes, what is wrong, unless it is null:
//
//     EINVAL       seconds is no number above 0, up to 600 (to the millisecond); no such format
//     ENOENT, ECONNREFUSED, EACCES, ...  as of connect(): nobody serves there
//     ESRCH        auger does not observe this process, or it replays a recording
//     EAGAIN       too many wait already
//     EACCES, ECONNRESET, EPIPE  it does not answer this user; the latter two: or has ended
//     EOPNOTSUPP   that auger is older, and does not have this
//     EIO          it cannot, and says why
//     ETIMEDOUT, EPROTO  it does not answer, or is not auger
//     and those of write()
static inline int auger_profile_or_why(const char* socket_path, double seconds, const char* format,
                                       int fd, char* why, size_t why_size) {
    struct auger_client_ client;
    char request[512];
    int result, error;
    client.socket = -1;
    client.why = why;
    client.why_size = why_size;
    client.next = client.end = 0;
    if (why && why_size > 0)
        *why = 0;
    if (!(seconds >= 0.001 && seconds <= 600))
        return auger_client_fail_(&client, EINVAL, "seconds is a number above 0, up to 600");
    client.deadline = auger_client_now_() + (long)seconds + AUGER_CLIENT_PATIENCE_;
    if (auger_client_request_(format, (unsigned long)(seconds * 1000 + 0.5), request,
                              sizeof(request)) < 0)
        return auger_client_fail_(&client, EINVAL,
                                  "format is one of pprof, otlp, collapsed, perf-script");
    result = auger_client_connect_(&client, socket_path);
    if (result == 0)
        result = auger_client_send_(&client, request);
    if (result == 0)
        result = auger_client_answer_(&client, fd);
    error = errno;
    if (client.socket >= 0)
        close(client.socket);
    errno = error;
    return result;
}

static inline int auger_profile(const char* socket_path, double seconds, const char* format,
                                int fd) {
    return auger_profile_or_why(socket_path, seconds, format, fd, NULL, 0);
}

#endif
