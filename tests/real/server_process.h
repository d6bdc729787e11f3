// SPDX-License-Identifier: GPL-3.0-or-later
// ServerProcess: a server of Debian's on files of its own, reachable from this machine only.
#pragma once

#include "tests/kernel/program.h"
#include "tests/support/free_port.h"
#include "tests/support/temporary_folder.h"

#include <csignal>
#include <ios>
#include <memory>
#include <string>
#include <vector>

namespace auger::test {

class ServerProcess {
  public:
    virtual ~ServerProcess() = default; // it is gone then, with all its files

    pid_t pid() const { return process_->pid(); }
    // One request, with nothing else going on. Throws when it is not answered.
    virtual void expect_answer() = 0;
    // It is told to end; 0 when it was well until then.
    virtual int stop() { return end(SIGTERM); }

  protected:
    // Starts the program, and returns when it answers.
    void start(const std::string& program, const std::vector<std::string>& arguments);
    // Lines that came to a file since the last call of this.
    std::vector<std::string> new_lines(const std::string& log);
    // The exit code, or 128 and the signal.
    int end(int signal);

    TemporaryFolder folder_;

  private:
    std::unique_ptr<Program> process_;
    std::streamoff lines_read_ = 0;
};

} // namespace auger::test
