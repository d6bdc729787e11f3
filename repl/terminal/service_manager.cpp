// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/service_manager.h"

#include "loader/base/fd.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace auger {

ServiceManager::ServiceManager() {
    if (const char* socket = std::getenv("NOTIFY_SOCKET"))
        socket_ = socket;
    unsetenv("NOTIFY_SOCKET");
}

bool ServiceManager::tell(const char* state) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof(address.sun_path))
        return false;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@')
        address.sun_path[0] = '\0';
    const UniqueFd sender(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    return sendto(sender.get(), state, std::strlen(state), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address), size) >= 0;
}

void ServiceManager::ready() {
    if (!told_)
        told_ = tell("READY=1");
}

void ServiceManager::stopping() {
    if (std::exchange(told_, false))
        tell("STOPPING=1");
}

} // namespace auger
