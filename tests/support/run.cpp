// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace auger::test {

namespace {

constexpr auto generous = std::chrono::minutes(5);

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw std::runtime_error("pipe");
        read = ends[0];
        write = ends[1];
    }
    ~Pipe() {
        close_end(read);
        close_end(write);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    static void close_end(int& end) {
        if (end >= 0)
            close(std::exchange(end, -1));
    }
};

// What is there to read is appended; the end of it closes `from`.
void drain(int& from, std::string& text) {
    char bytes[65536];
    const ssize_t got = read(from, bytes, sizeof(bytes));
    if (got > 0)
        text.append(bytes, static_cast<size_t>(got));
    else if (got == 0 || errno != EINTR)
        Pipe::close_end(from);
}

void feed(int& to, std::string_view& rest) {
    const ssize_t put = write(to, rest.data(), rest.size());
    if (put > 0)
        rest.remove_prefix(static_cast<size_t>(put));
    if (rest.empty() || (put < 0 && errno != EINTR))
        Pipe::close_end(to);
}

} // namespace

Outcome run(std::vector<std::string> command, const Surroundings& surroundings) {
    const int program = open(command.at(0).c_str(), O_RDONLY | O_CLOEXEC);
    if (program < 0)
        throw std::runtime_error("there is no " + command[0]);
    std::vector<char*> arguments;
    for (std::string& argument : command)
        arguments.push_back(argument.data());
    arguments.push_back(nullptr);

    Pipe input, output, errors;
    const pid_t child = fork();
    if (child == 0) {
        dup2(input.read, STDIN_FILENO);
        dup2(output.write, STDOUT_FILENO);
        dup2(errors.write, STDERR_FILENO);
        signal(SIGPIPE, SIG_DFL);
        if (!surroundings.prepare())
            _exit(Outcome::not_prepared);
        fexecve(program, arguments.data(), environ);
        _exit(127);
    }
    close(program);
    Pipe::close_end(input.read);
    Pipe::close_end(output.write);
    Pipe::close_end(errors.write);

    signal(SIGPIPE, SIG_IGN); // a program need not read its input
    Outcome outcome;
    std::string_view rest = surroundings.input;
    if (rest.empty())
        Pipe::close_end(input.write);
    const auto limit = std::chrono::steady_clock::now() + generous;
    while (output.read >= 0 || errors.read >= 0) {
        pollfd ends[3] = {
            {output.read, POLLIN, 0}, {errors.read, POLLIN, 0}, {input.write, POLLOUT, 0}};
        poll(ends, 3, 1000);
        if (ends[0].revents != 0)
            drain(output.read, outcome.out);
        if (ends[1].revents != 0)
            drain(errors.read, outcome.err);
        if (ends[2].revents != 0)
            feed(input.write, rest);
        if (std::chrono::steady_clock::now() > limit) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
            throw std::runtime_error(command[0] + " does not end; it said: " + outcome.out +
                                     outcome.err);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

} // namespace auger::test
