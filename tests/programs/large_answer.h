// SPDX-License-Identifier: GPL-3.0-or-later
// An answer that a client who does not read keeps from being sent.
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

// More than all buffers take, as servers send it that do not wait: what there is room for.
enum { large_bytes = 24 << 20, piece_bytes = 1 << 20 };

static inline bool send_large(int fd) {
    static const char piece[piece_bytes];
    size_t left = large_bytes;
    while (left) {
        const size_t size = left < sizeof piece ? left : sizeof piece;
        const ssize_t sent = send(fd, piece, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        if (sent > 0)
            left -= (size_t)sent;
        else if (errno != EAGAIN || poll(&room, 1, -1) < 0)
            return false;
    }
    return true;
}

static inline bool receive_large(int fd, uint64_t stall_ms) {
    static char piece[piece_bytes]; // the clients' threads do not look at it
    size_t left = large_bytes;
    usleep((useconds_t)(1000 * stall_ms));
    while (left) {
        const ssize_t got = recv(fd, piece, left < sizeof piece ? left : sizeof piece, 0);
        if (got <= 0)
            return false;
        left -= (size_t)got;
    }
    return true;
}
