// SPDX-License-Identifier: GPL-3.0-or-later
// Observer: auger beside a server, as a script starts it, and what it reports as JSON.
#pragma once

#include "tests/kernel/program.h"
#include "tests/support/bpf_objects.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace auger::test {

class Observer {
  public:
    // `arguments` say what to do: -f FILE, -e COMMANDS.
    Observer(pid_t target, const std::vector<std::string>& arguments);

    // Until the script says this (`echo`). Throws (failing the test) when it ends before.
    void wait_echo(const std::string& text);
    // Reads on to its end; the exit code.
    int wait_exit();
    // What it reported to have failed, a line each.
    std::string errors() const;
    // SIGKILL. Its programs and links, all of which must be gone then.
    BpfObjects kill();

    // What a command reported, each time that it was given.
    std::vector<nlohmann::json> reports(const std::string& command) const;

  private:
    bool read_report(); // false at the end

    Program auger_;
    std::vector<nlohmann::json> reports_;
};

} // namespace auger::test
