// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace auger::test {

namespace {
constexpr int generous_ms = 60'000;

// As pipe(2): what is written to the second comes out of the first.
int open_terminal(int (&ends)[2]) {
    ends[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0 || grantpt(ends[1]) < 0 || unlockpt(ends[1]) < 0)
        return -1;
    ends[0] = open(ptsname(ends[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    termios modes;
    if (ends[0] < 0 || tcgetattr(ends[0], &modes) < 0)
        return -1;
    modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    return tcsetattr(ends[0], TCSANOW, &modes);
}
} // namespace

std::string program_path(const std::string& name) {
    return std::string(AUGER_PROGRAMS_DIR) + "/" + name;
}

Program::Program(const std::string& name, std::vector<std::string> arguments, Input input) {
    int in[2], out[2];
    if ((input == Input::terminal ? open_terminal(in) : pipe2(in, O_CLOEXEC)) < 0 ||
        pipe2(out, O_CLOEXEC) < 0)
        throw std::runtime_error("pipe");
    std::string path = name.find('/') == std::string::npos ? program_path(name) : name;
    std::vector<char*> argv = {path.data()};
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(path.c_str(), argv.data());
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
}

Program::~Program() {
    if (!ended_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    if (input_ >= 0)
        close(input_);
    close(output_);
}

std::string Program::read_line() {
    for (;;) {
        if (size_t end = buffer_.find('\n'); end != std::string::npos) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        pollfd waiting = {output_, POLLIN, 0};
        if (poll(&waiting, 1, generous_ms) <= 0)
            throw std::runtime_error("the program says nothing");
        char bytes[4096];
        ssize_t count = read(output_, bytes, sizeof(bytes));
        if (count <= 0)
            return std::exchange(buffer_, "");
        buffer_.append(bytes, static_cast<size_t>(count));
    }
}

void Program::wait_ready() {
    std::string line = read_line();
    if (line.rfind("ready", 0) != 0)
        throw std::runtime_error("expected `ready`, got: " + line);
}

void Program::go() {
    say("");
}

void Program::say(const std::string& line) {
    const std::string whole = line + "\n";
    if (write(input_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
        throw std::runtime_error("the program does not listen");
}

void Program::signal(int number) {
    kill(pid_, number);
}

nlohmann::json Program::account() {
    for (;;) {
        std::string line = read_line();
        if (line.empty())
            throw std::runtime_error("the program ended without an account");
        if (line.front() == '{')
            return nlohmann::json::parse(line);
    }
}

int Program::wait_exit() {
    if (!ended_) {
        int status = 0;
        waitpid(pid_, &status, 0);
        ended_ = true;
        exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return exit_;
}

} // namespace auger::test
