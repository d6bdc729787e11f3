// SPDX-License-Identifier: GPL-3.0-or-later
// Server: a server of Debian's on files of its own, reachable from this machine only, its clients,
// and what it says itself about how long its requests took.
#pragma once

#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <csignal>
#include <cstdint>
#include <ios>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace auger::test {

class Server {
  public:
    virtual ~Server() = default; // it is gone then, with all its files

    pid_t pid() const { return process_->pid(); }
    // Clients make their requests, all at once, and return when each is answered rightly; their
    // number. Throws (failing the test) when one is not.
    virtual uint64_t load() = 0;
    virtual double clients_at_once() const = 0;
    // One request more, with nothing else going on. Throws when it is not answered.
    virtual void expect_answer() = 0;
    // In nanoseconds, of the requests since the last call of this, as the server's own log has
    // them, in whole microseconds.
    virtual std::vector<uint64_t> logged_durations() = 0;
    // It is told to end; 0 when it was well until then.
    virtual int stop() { return end(SIGTERM); }

    // The functions that the command file times. A `request` is entered once for each request, and
    // `extra_requests` times more during a load.
    virtual std::string script() const = 0;
    virtual std::string request() const = 0;
    virtual uint64_t extra_requests() const { return 0; }
    virtual bool request_includes_logged() const = 0; // the time that the log has is part of it
    virtual std::string inner() const = 0;            // once a request, part of the time in the log
    // Whether this function is busy in slow requests, and in no others to speak of.
    virtual bool is_cause(std::string_view function) const = 0;

  protected:
    // Starts the program, and returns when it answers.
    void start(const std::string& program, const std::vector<std::string>& arguments);
    // Lines that came to a file since the last call of this.
    std::vector<std::string> new_lines(const std::string& log);

    TemporaryFolder folder_;

    // The exit code, or 128 and the signal.
    int end(int signal);

  private:
    std::unique_ptr<Program> process_;
    std::streamoff lines_read_ = 0;
};

} // namespace auger::test
