// SPDX-License-Identifier: GPL-3.0-or-later
// redis: a store whose one thread goes from client to client.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger::test {

class Redis : public ServerProcess {
  public:
    Redis();

    // The server is the same program by another name, which the package redis-server gives it; that
    // would start one of the machine's.
    static constexpr const char* programs[] = {"/usr/bin/redis-check-rdb", "/usr/bin/redis-cli"};
    static constexpr const char* packages = "redis-tools";

    void expect_answer() override;
    // Some clients at once, each with one command after the other; one has it run scripts that take
    // long. Returns when all is answered.
    void load() const;
    // How many commands it has carried out, without this one.
    uint64_t commands() const;
    // From now on its log of slow commands has each one.
    void log_all() const;
    // How long those of a load since then took, by that log, in nanoseconds: whole microseconds.
    std::vector<double> logged_durations() const;

  private:
    std::string ask(const std::vector<std::string>& command) const;

    int port_;
};

} // namespace auger::test
