// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/host_command.h"

#include "loader/recording/origins.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger::remote {

namespace {

constexpr std::string_view place_of_host = "{}", ssh_scheme = "ssh://";
constexpr size_t most_hosts = most_relayed_hosts; // a relay's console takes no more

Error no_host(const std::string& text, std::string cause, std::string hint) {
    return {"-H", text, std::move(cause), std::move(hint), Error::Kind::usage};
}

// As one word of a shell.
std::string shell_word(std::string_view text) {
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

std::string replaced(std::string text, std::string_view by) {
    for (size_t at = 0; (at = text.find(place_of_host, at)) != std::string::npos; at += by.size())
        text.replace(at, place_of_host.size(), by);
    return text;
}

std::vector<std::string> by_ssh(const std::string& host) {
    const size_t at = host.starts_with(ssh_scheme) ? ssh_scheme.size() : 0;
    const bool as_root = host.compare(at, 5, "root@") == 0;
    // Without questions: several hosts would ask at once, and the terminal is the console's.
    return {"ssh",
            "-T",
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=10",
            "--",
            host,
            as_root ? "exec auger --agent" : "exec sudo -n auger --agent"};
}

} // namespace

Result<std::vector<HostCommand>> host_commands(std::span<const std::string> hosts,
                                               const std::string& via) {
    std::vector<HostCommand> commands;
    if (!via.empty() && via.find(place_of_host) == std::string::npos && hosts.size() > 1)
        return Error{"--via", via, "it does not say where the host's name goes",
                     "write {} there: --via 'podman exec -i {} auger --agent'", Error::Kind::usage};
    for (const std::string& list : hosts) {
        for (size_t at = 0; at <= list.size();) {
            const size_t end = std::min(list.find(',', at), list.size());
            const std::string host = list.substr(at, end - at);
            at = end + 1;
            if (host.empty())
                return no_host(list, "a host's name is missing", "as in -H web1,web2");
            // ssh would take it for an option.
            if (host.front() == '-' ||
                std::ranges::any_of(host, [](unsigned char c) { return c <= ' ' || c == 0x7f; }))
                return no_host(host, "that is no name of a host", "as in -H web1,user@web2");
            HostCommand command{host, {}};
            if (host.starts_with(ssh_scheme))
                command.name = host.substr(ssh_scheme.size());
            if (command.name.empty())
                return no_host(host, "a host's name is missing", "as in -H ssh://user@web1:2222");
            if (command.name.size() > most_host_name)
                return no_host(host.substr(0, 40) + "...",
                               fmt::format("a name has {} bytes at most", most_host_name),
                               "give the host a shorter one in ~/.ssh/config");
            command.arguments =
                via.empty()
                    ? by_ssh(host)
                    : std::vector<std::string>{"/bin/sh", "-c", replaced(via, shell_word(host))};
            if (std::ranges::find(commands, command.name, &HostCommand::name) != commands.end())
                return no_host(host, "it is named twice", "once is enough");
            commands.push_back(std::move(command));
            if (commands.size() > most_hosts)
                return no_host(host, fmt::format("there are more than {} hosts", most_hosts),
                               "observe some of them");
        }
    }
    return commands;
}

Result<std::vector<std::string>> hosts_in(const std::string& text, const std::string& path) {
    std::vector<std::string> hosts;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        line.erase(std::min(line.find('#'), line.size()));
        const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
        if (first != std::string::npos)
            hosts.push_back(line.substr(first, last - first + 1));
    }
    if (hosts.empty())
        return Error{"--hosts", path, "there is no host in it", "one a line, as -H takes them",
                     Error::Kind::usage};
    return hosts;
}

} // namespace auger::remote
