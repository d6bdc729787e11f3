// SPDX-License-Identifier: GPL-3.0-or-later
// Child: a program that a bench starts, ended with the object; and Called, the one that is
// observed.
#pragma once

#include "loader/base/fd.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace auger::bench {

// Where a child's standard output goes.
enum class Output { pipe, nowhere };

class Child {
  public:
    // Throws std::runtime_error when it cannot be started. `inherited` descriptors stay open in it.
    Child(const std::vector<std::string>& command, Output output, std::vector<int> inherited = {});
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }
    int output_fd() const { return output_.get(); }
    void write_line(const std::string& line);
    // Waits for it. Throws when the child has ended.
    std::string read_line();
    bool running();
    // Interrupts it as Ctrl-C does, and waits for its end.
    void interrupt();

  private:
    pid_t pid_ = -1;
    UniqueFd input_, output_;
    std::string buffer_;
};

// bench/called.c.
class Called {
  public:
    Called();
    pid_t pid() const { return child_.pid(); }
    static std::string path();

    // ns of CPU time a call.
    double call(const std::string& function, uint64_t count);
    // The same, of starts_push from one of the lines of called.c: "here" (1001), "elsewhere"
    // (1002), "pointer" (1003), and "pointer_elsewhere", which there calls another function.
    double call_site(const std::string& site, uint64_t count);
    // ns of CPU time a context switch of two of its threads, whose stacks are so deep.
    double switch_threads(uint64_t count, int frames);
    // Steps per CPU second in a stack so deep; between the two the answer is not there yet.
    void begin_work(uint64_t milliseconds, int frames);
    double end_work();
    int answer_fd() const { return child_.output_fd(); }

  private:
    Child child_;
};

// A peer says nowhere that its probes on the function are in place, but the calls tell: they cost
// `bare` ns without. Throws when it does not come to that.
void wait_until_attached(Child& peer, Called& called, const std::string& function, double bare);

// The path of a program in PATH or a folder of administrators' programs; empty when there is none.
std::string find_program(const std::string& name);

} // namespace auger::bench
