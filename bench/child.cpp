// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/child.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace auger::bench {

Child::Child(const std::vector<std::string>& command, Output output, std::vector<int> inherited) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        throw std::runtime_error("pipe");
    UniqueFd child_input(in[0]);
    input_.reset(in[1]);
    if (pipe2(out, O_CLOEXEC) < 0)
        throw std::runtime_error("pipe");
    output_.reset(out[0]);
    UniqueFd child_output(out[1]);
    UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0)
        throw std::runtime_error("fork");
    if (pid_ == 0) {
        dup2(child_input.get(), 0);
        dup2(output == Output::pipe ? child_output.get() : nowhere.get(), 1);
        if (output == Output::nowhere)
            dup2(nowhere.get(), 2);
        for (int fd : inherited)
            fcntl(fd, F_SETFD, 0);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
}

Child::~Child() {
    if (pid_ < 0)
        return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

void Child::write_line(const std::string& line) {
    std::string text = line + "\n";
    if (write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("a child does not listen");
}

std::string Child::read_line() {
    for (;;) {
        if (size_t end = buffer_.find('\n'); end != std::string::npos) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        char bytes[4096];
        ssize_t count = read(output_.get(), bytes, sizeof(bytes));
        if (count <= 0)
            throw std::runtime_error("a child has ended");
        buffer_.append(bytes, static_cast<size_t>(count));
    }
}

bool Child::running() {
    if (pid_ >= 0 && waitpid(pid_, nullptr, WNOHANG) == pid_)
        pid_ = -1;
    return pid_ >= 0;
}

void Child::interrupt() {
    if (!running())
        return;
    kill(pid_, SIGINT);
    // Some peers miss it now and then.
    for (int tries = 0; tries < 1'000 && running(); tries++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(std::exchange(pid_, -1), nullptr, 0);
    }
}

std::string Called::path() {
    return AUGER_BENCH_CALLED;
}

Called::Called() : child_({path()}, Output::pipe) {}

double Called::call(const std::string& function, uint64_t count) {
    child_.write_line("call " + function + " " + std::to_string(count));
    return std::stod(child_.read_line());
}

double Called::call_site(const std::string& site, uint64_t count) {
    child_.write_line("site " + site + " " + std::to_string(count));
    return std::stod(child_.read_line());
}

double Called::switch_threads(uint64_t count, int frames) {
    child_.write_line(fmt::format("switch {} {}", count, frames));
    return std::stod(child_.read_line());
}

void Called::begin_work(uint64_t milliseconds, int frames) {
    child_.write_line(fmt::format("work {} {}", milliseconds, frames));
}

double Called::end_work() {
    return std::stod(child_.read_line());
}

void wait_until_attached(Child& peer, Called& called, const std::string& function, double bare) {
    for (int tries = 0; tries < 1'500; tries++) {
        if (called.call(function, 50) > bare * 10 + 100)
            return;
        if (!peer.running())
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("it did not attach");
}

std::string find_program(const std::string& name) {
    const char* variable = std::getenv("PATH");
    std::istringstream folders(std::string(variable ? variable : "/usr/bin") +
                               ":/usr/sbin:/usr/local/sbin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string path = folder + "/" + name;
        if (access(path.c_str(), X_OK) == 0)
            return path;
    }
    return {};
}

} // namespace auger::bench
