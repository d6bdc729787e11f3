// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/base/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace auger::test {

// A port of 127.0.0.1 that was free a moment ago, for a server that binds it later. It is below
// those that the kernel gives whoever asks for any (net.ipv4.ip_local_port_range, from 32768 on
// unless somebody has set it), since others do so meanwhile; each process begins at another one,
// and gives none twice.
inline uint16_t free_port() {
    constexpr uint32_t first = 20'000, count = 12'000;
    static uint32_t next = static_cast<uint32_t>(getpid()) * 7;
    for (uint32_t i = 0; i < count; i++) {
        const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto port = static_cast<uint16_t>(first + next++ % count);
        address.sin_port = htons(port);
        if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
            return port;
    }
    throw std::runtime_error("a free port");
}

} // namespace auger::test
