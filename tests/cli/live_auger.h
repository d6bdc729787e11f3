// SPDX-License-Identifier: GPL-3.0-or-later
// A live session as somebody types it: one line after the other, with the answers as JSON; and the
// program that it observes, which knows what it does.
#pragma once

#include "tests/kernel/program.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace auger::test {

using nlohmann::json;

// tests/programs/shop, which waits at its door until it is opened, and stays when it has closed.
class Shop {
  public:
    static constexpr int rounds = 100; // of each clerk; half of them the apprentice's
    static constexpr int clerks = 2;

    // `path`: a copy of it.
    explicit Shop(const std::string& path = "shop")
        : program_(path, {"--calls", std::to_string(rounds), "--wait", "--linger"}) {
        program_.wait_ready();
    }
    std::string pid() const { return std::to_string(program_.pid()); }
    void open() { program_.go(); }
    // Reads its account, once it has closed.
    void close() { account = program_.account(); }
    json account;

    uint64_t plain() const { return account["plain"]["calls"]; }
    uint64_t difficult() const { return account["difficult"]["calls"]; }
    uint64_t apprentices() const { return account["apprentice"]["calls"]; }
    uint64_t searches() const { return account["search"]["calls"]; }
    uint64_t served() const { return plain() + difficult() + apprentices(); }

  private:
    Program program_;
};

class LiveAuger {
  public:
    // At a terminal it waits for nobody as long as a script does.
    explicit LiveAuger(std::vector<std::string> arguments,
                       Program::Input input = Program::Input::pipe);
    // Quits; fails the test when something is left behind, or its exit code is another than 0, or 1
    // for a script with errors.
    ~LiveAuger();

    pid_t pid() const { return program_.pid(); }
    // All that a line says, but for notices.
    std::vector<json> all(const std::string& line);
    // The only answer, which is no error; or the error's text.
    json ask(const std::string& line);
    std::string error(const std::string& line);
    // Each of these lines, without a mistake.
    void run(const std::vector<std::string>& lines);
    std::vector<std::string> notices;

  private:
    Program program_;
    const bool is_script_;
    bool script_failed_ = false;
    int marks_ = 0;
};

class LiveTest : public KernelTest {
  protected:
    // Opens the shop, and waits until all that happened there is known to auger.
    static void see_all(LiveAuger& auger, Shop& shop, const std::string& probe = "serve");
    // At the end of SetUp().
    static void skip_without_exchanges();
    TemporaryFolder folder_;
};

// Of `flame`: nanoseconds of CPU time of the stacks that hold the function.
double cpu_ns_in(const json& flame, const std::string& function);
// ... and of all kinds of time.
double ns_in(const json& flame, const std::string& function);
// The first words of `flame`'s stacks.
std::set<std::string> labels_of(const json& flame);
double samples_of(const json& flame);
std::string text_of(const std::string& path);

} // namespace auger::test
