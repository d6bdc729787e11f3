// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/ssh_hosts.h"

#include "tests/support/wait.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace auger::test {

namespace {

// What tests/real/fetch puts there.
constexpr const char* sshd = AUGER_SERVERS_DIR "/usr/sbin/sshd";

void make_key(const std::string& path) {
    if (std::system(("ssh-keygen -q -t ed25519 -N '' -f " + path).c_str()) != 0)
        throw std::runtime_error("ssh-keygen");
}

// Whether somebody listens on port 22 of the process's network.
bool listens(pid_t pid) {
    std::ifstream sockets(fmt::format("/proc/{}/net/tcp", pid));
    for (std::string line; std::getline(sockets, line);)
        if (line.find("0100007F:0016 00000000:0000 0A") != std::string::npos)
            return true;
    return false;
}

} // namespace

std::string SshHosts::lacking() {
    for (const auto& [path, package] :
         {std::array{sshd, "openssh-server, which `./run test` fetches"},
          std::array{"/usr/bin/ssh", "openssh-client"}, std::array{"/sbin/ip", "iproute2"}})
        if (!std::filesystem::exists(path))
            return package;
    return "";
}

void SshHosts::add(const std::string& name, const std::string& command, int delay_ms) {
    if (servers_.empty()) {
        make_key(folder_.path("user"));
        make_key(folder_.path("host"));
        // Root's is a password that nobody can log in with, but no locked account.
        folder_.file("passwd", "root:*:0:0::/root:/bin/sh\n"
                               "sshd:*:65533:65533::/run/sshd:/usr/sbin/nologin\n");
    }
    const std::string settings =
        folder_.file("sshd." + name,
                     fmt::format("ListenAddress 127.0.0.1:22\nHostKey {}\nAuthorizedKeysFile {}\n"
                                 "PermitRootLogin yes\nStrictModes no\nPidFile none\n"
                                 "ForceCommand {}\n",
                                 folder_.path("host"), folder_.path("user.pub"), command));
    const std::string start =
        folder_.file("start." + name, fmt::format("set -e\nip link set lo up\n"
                                                  "mount --bind {} /etc/passwd\n"
                                                  "mount -t tmpfs none /run\nmkdir /run/sshd\n"
                                                  "exec {} -D -e -f {}\n",
                                                  folder_.path("passwd"), sshd, settings));
    servers_.push_back(std::make_unique<Program>(
        "/usr/bin/unshare", std::vector<std::string>{"-n", "-m", "sh", start}));
    const pid_t server = servers_.back()->pid();
    if (!wait_until([&] { return listens(server); }))
        throw std::runtime_error("sshd does not listen");
    hosts_ += fmt::format("Host {}\n"
                          "  ProxyCommand nsenter --net=/proc/{}/ns/net python3 {} {}\n",
                          name, server, AUGER_SOURCE_DIR "/tests/cli/slow_link.py", delay_ms);
}

std::string SshHosts::client() const {
    const std::string settings =
        hosts_ + fmt::format("Host *\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n"
                             "  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n"
                             "  LogLevel ERROR\n  BatchMode yes\n",
                             folder_.path("user"));
    return "ssh -T -F " + folder_.file("client", settings);
}

} // namespace auger::test
