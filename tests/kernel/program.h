// SPDX-License-Identifier: GPL-3.0-or-later
// Program: one of tests/programs, running, and the account that it gives of itself.
#pragma once

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

namespace auger::test {

class Program {
  public:
    // What it reads: a terminal shows nothing of it.
    enum class Input { pipe, terminal };
    // Starts it; `arguments` as a user would give them. Throws (failing the test) when it cannot.
    Program(const std::string& name, std::vector<std::string> arguments, Input input = Input::pipe);
    ~Program(); // kills what still runs
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    pid_t pid() const { return pid_; }
    // Until it says `ready`. Generous limit.
    void wait_ready();
    void go(); // ends its wait (`--wait`, `--linger`)
    void say(const std::string& line);
    void signal(int number);
    // The next line that it prints, without the newline; empty at the end of its output.
    std::string read_line();
    // Reads on to its account, which is one line of JSON.
    nlohmann::json account();
    // Waits for its end; the exit code, or 128 and the signal.
    int wait_exit();

  private:
    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    bool ended_ = false;
    int exit_ = 0;
    std::string buffer_;
};

std::string program_path(const std::string& name);

} // namespace auger::test
