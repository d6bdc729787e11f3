// SPDX-License-Identifier: GPL-3.0-or-later
// What the user nobody, who is neither auger's nor root, gets from the endpoint. Needs root.
#pragma once

#include "tests/support/http_client.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace auger::test {

// Of each address the answer's status; 0: the connection was closed; -1: there was none; -2: it was
// admitted, and waits. All are asked at once, and looked at when so many of them (all) are
// answered.
inline std::vector<int> asked_by_nobody(const std::vector<std::string>& addresses,
                                        const std::string& path = "/status",
                                        size_t answers = SIZE_MAX) {
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    const pid_t child = fork();
    if (child == 0) {
        constexpr unsigned nobody = 65534;
        if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
            setresuid(nobody, nobody, nobody) != 0)
            _exit(1);
        std::list<HttpClient> clients;
        for (const std::string& address : addresses) {
            clients.emplace_back(address);
            if (clients.back().connected())
                clients.back().get(path);
        }
        const auto status_of = [](HttpClient& client) {
            return !client.connected() ? -1 : client.closed() ? client.status() : -2;
        };
        const auto answered = [&] {
            return static_cast<size_t>(std::ranges::count_if(
                clients, [&](HttpClient& client) { return status_of(client) != -2; }));
        };
        for (int i = 0; i < 5'000 && answered() < std::min(answers, clients.size()); i++)
            usleep(1'000);
        for (HttpClient& client : clients) {
            const int status = status_of(client);
            (void)!write(ends[1], &status, sizeof(status));
        }
        _exit(0);
    }
    close(ends[1]);
    std::vector<int> statuses;
    int status = 0;
    while (read(ends[0], &status, sizeof(status)) == sizeof(status))
        statuses.push_back(status);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return statuses;
}

} // namespace auger::test
