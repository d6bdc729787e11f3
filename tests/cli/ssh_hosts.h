// SPDX-License-Identifier: GPL-3.0-or-later
// SshHosts: machines that are reached by ssh only, each in a network namespace of its own with a
// real sshd. One command is run there for whoever logs in.
#pragma once

#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <memory>
#include <string>
#include <vector>

namespace auger::test {

class SshHosts {
  public:
    // The package that is not there; empty: all are.
    static std::string lacking();

    // Logging in runs the command, whatever is asked for. What is said arrives after so many
    // milliseconds, and at times much later, as where a packet is lost and sent again.
    void add(const std::string& name, const std::string& command, int delay_ms);
    // The client's command, but for the host's name and what to run there.
    std::string client() const;

  private:
    const TemporaryFolder folder_;
    std::string hosts_; // of the client's configuration
    std::vector<std::unique_ptr<Program>> servers_;
};

} // namespace auger::test
