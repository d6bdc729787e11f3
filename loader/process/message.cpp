// SPDX-License-Identifier: GPL-3.0-or-later
// A message is its length (32 bits) and its bytes; descriptors come with the length.
#include "loader/process/message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace auger {
namespace {

constexpr int look_ms = 100;

bool wait_for(int socket, short events, const GoOn& go_on) {
    for (;;) {
        // First of all: who sends a byte now and then must not be waited for longer than others.
        if (go_on && !go_on())
            return false;
        pollfd one{socket, events, 0};
        const int ready = poll(&one, 1, go_on ? look_ms : -1);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

bool again() {
    return errno == EINTR || errno == EAGAIN;
}

bool send_all(int socket, std::string_view bytes, const GoOn& go_on) {
    while (!bytes.empty()) {
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0)
            bytes.remove_prefix(static_cast<size_t>(sent));
        else if (!again() || !wait_for(socket, POLLOUT, go_on))
            return false;
    }
    return true;
}

bool receive_all(int socket, char* to, size_t size, const GoOn& go_on) {
    while (size > 0) {
        if (!wait_for(socket, POLLIN, go_on))
            return false;
        const ssize_t got = recv(socket, to, size, MSG_DONTWAIT);
        if (got > 0) {
            to += got;
            size -= static_cast<size_t>(got);
        } else if (got == 0 || !again()) {
            return false;
        }
    }
    return true;
}

void take_descriptors(msghdr& header, std::vector<UniqueFd>& to) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
            int fd;
            std::memcpy(&fd, reinterpret_cast<const char*>(part) + at, sizeof fd);
            to.emplace_back(fd);
        }
    }
}

union Control {
    char bytes[CMSG_SPACE(most_descriptors * sizeof(int))];
    cmsghdr alignment;
};

} // namespace

bool send_message(int socket, std::string_view bytes, std::span<const int> descriptors,
                  const GoOn& go_on) {
    auto size = static_cast<uint32_t>(bytes.size());
    iovec content{&size, sizeof size};
    Control control{};
    msghdr header{};
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    if (!descriptors.empty()) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent;
    while ((sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0)
        if (!again() || !wait_for(socket, POLLOUT, go_on))
            return false;
    // The kernel takes four bytes whole.
    return sent == sizeof size && send_all(socket, bytes, go_on);
}

std::optional<Message> receive_message(int socket, size_t limit, const GoOn& go_on) {
    uint32_t size = 0;
    iovec content{&size, sizeof size};
    Control control{};
    msghdr header{};
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    if (!wait_for(socket, POLLIN, go_on))
        return std::nullopt;
    const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got <= 0)
        return std::nullopt;
    Message message;
    take_descriptors(header, message.descriptors);
    auto* const rest = reinterpret_cast<char*>(&size) + got;
    if (!receive_all(socket, rest, sizeof size - static_cast<size_t>(got), go_on) || size > limit)
        return std::nullopt;
    // Grows with what really comes.
    constexpr size_t step = 1 << 20;
    while (message.bytes.size() < size) {
        const size_t old = message.bytes.size();
        message.bytes.resize(old + std::min<size_t>(step, size - old));
        if (!receive_all(socket, message.bytes.data() + old, message.bytes.size() - old, go_on))
            return std::nullopt;
    }
    return message;
}

} // namespace auger
