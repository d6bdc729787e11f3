// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/view_terminal.h"

#include <fmt/format.h>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

namespace auger::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char marker = '`'; // stands in no name and no control sequence
constexpr size_t kept = 4'096;

} // namespace

ViewTerminal::ViewTerminal(const std::vector<std::string>& arguments) {
    winsize size{60, 200, 0, 0};
    int terminal = -1;
    pid_ = forkpty(&terminal, nullptr, nullptr, &size);
    if (pid_ < 0)
        throw std::runtime_error("open a terminal");
    if (pid_ == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        setpriority(PRIO_PROCESS, 0, 0); // the bench's own is another
        std::vector<char*> words = {const_cast<char*>(AUGER_BENCH_AUGER)};
        for (const std::string& argument : arguments)
            words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        execv(words[0], words.data());
        _exit(127);
    }
    terminal_.reset(terminal);
}

ViewTerminal::~ViewTerminal() {
    kill(pid_, SIGCONT);
    kill(pid_, SIGTERM);
    for (int tries = 0; tries < 200 && waitpid(pid_, nullptr, WNOHANG) == 0; tries++)
        watch(milliseconds(50)); // or it waits for somebody to read
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

bool ViewTerminal::read_some(steady_clock::time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    pollfd waiting{terminal_.get(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) <= 0)
        return false;
    char bytes[65'536];
    const ssize_t count = read(terminal_.get(), bytes, sizeof(bytes));
    if (count <= 0)
        throw std::runtime_error("auger has left its terminal");
    seen_.append(bytes, static_cast<size_t>(count));
    return true;
}

void ViewTerminal::press(std::string_view keys) {
    if (write(terminal_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
        throw std::runtime_error("auger's terminal takes no keys");
}

size_t ViewTerminal::watch(milliseconds time) {
    const auto until = steady_clock::now() + time;
    seen_.clear();
    size_t bytes = 0;
    try {
        while (read_some(until)) {
            bytes += seen_.size();
            seen_.clear();
        }
    } catch (const std::runtime_error&) { // it has ended
    }
    return bytes;
}

void ViewTerminal::await(std::string_view text, milliseconds limit) {
    const auto until = steady_clock::now() + limit;
    while (seen_.find(text) == std::string::npos) {
        if (seen_.size() > 2 * kept)
            seen_.erase(0, seen_.size() - kept);
        if (!read_some(until))
            throw std::runtime_error(fmt::format("auger does not show \"{}\"", text));
    }
    seen_.clear();
}

double ViewTerminal::type_and_see() {
    watch(milliseconds(0));
    const auto pressed = steady_clock::now();
    press({&marker, 1});
    await({&marker, 1});
    return std::chrono::duration<double, std::milli>(steady_clock::now() - pressed).count();
}

double ViewTerminal::cpu_seconds() const {
    clockid_t clock;
    timespec used;
    if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0)
        throw std::runtime_error("auger has ended");
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

} // namespace auger::bench
