// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/base/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

namespace auger::test {

// A port of 127.0.0.1 that was free a moment ago; the kernel gives the same one again only after
// many others.
inline uint16_t free_port() {
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd.get(), generic, size) != 0 || getsockname(fd.get(), generic, &size) != 0)
        throw std::runtime_error("a free port");
    return ntohs(address.sin_port);
}

} // namespace auger::test
