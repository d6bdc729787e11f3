// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/server_process.h"

#include "tests/support/wait.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace auger::test {

void ServerProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
    process_ = std::make_unique<Program>(program, arguments);
    std::string why;
    const bool answers = wait_until([&] {
        try {
            expect_answer();
            return true;
        } catch (const std::runtime_error& error) {
            why = error.what();
            return false;
        }
    });
    if (!answers)
        throw std::runtime_error(program + " does not answer: " + why);
}

int ServerProcess::end(int signal) {
    process_->signal(signal);
    return process_->wait_exit();
}

std::vector<std::string> ServerProcess::new_lines(const std::string& log) {
    std::ifstream file(log);
    file.seekg(lines_read_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line); lines_read_ = file.tellg())
        lines.push_back(line);
    return lines;
}

int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool known = bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
    close(fd);
    if (!known)
        throw std::runtime_error("a free port");
    return ntohs(address.sin_port);
}

} // namespace auger::test
