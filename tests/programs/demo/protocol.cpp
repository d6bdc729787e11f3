// SPDX-License-Identifier: GPL-3.0-or-later
//
// See protocol.h. There is no receiving helper on purpose: each recv of the demo is a call site of
// its own, and one of them is the slow one.
#include "demo/protocol.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char* operation) {
    perror(operation);
    exit(1);
}

sockaddr_in loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

void send_at_once(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace

Socket::~Socket() {
    if (fd_ >= 0)
        close(fd_);
}

Socket Socket::listening() {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(0);
    if (!socket || bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ||
        listen(socket.fd(), SOMAXCONN))
        fail("listen on 127.0.0.1");
    return socket;
}

Socket Socket::connected(uint16_t port) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (!socket ||
        connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address))
        fail("connect to 127.0.0.1");
    send_at_once(socket.fd());
    return socket;
}

Socket Socket::accept() const {
    Socket socket(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
    if (socket)
        send_at_once(socket.fd());
    return socket;
}

uint16_t Socket::port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size))
        fail("getsockname");
    return ntohs(address.sin_port);
}

void Socket::shut_down() const {
    shutdown(fd_, SHUT_RDWR);
}

bool Socket::send_all(const void* data, size_t size) const {
    const char* from = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t sent = send(fd_, from, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        from += sent;
        size -= static_cast<size_t>(sent);
    }
    return true;
}
