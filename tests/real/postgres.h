// SPDX-License-Identifier: GPL-3.0-or-later
// PostgreSQL: a process for each connection; each statement is logged with how long it took.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <string>

namespace auger::test {

class Postgres : public ServerProcess {
  public:
    Postgres();

    // What tests/real/fetch puts there.
    static constexpr const char* programs[] = {
        AUGER_SERVERS_DIR "/usr/lib/postgresql/15/bin/postgres",
        AUGER_SERVERS_DIR "/usr/lib/postgresql/15/bin/initdb",
        AUGER_SERVERS_DIR "/usr/lib/postgresql/15/bin/pgbench",
        AUGER_SERVERS_DIR "/usr/share/postgresql/15/postgres.bki"};
    static constexpr const char* packages = "libpq5, and let `./run test` fetch postgresql-15";

    void expect_answer() override;
    int stop() override { return end(SIGINT); } // with its connections
    // Statements of pgbench's, by a protocol of it (`simple`, `extended`, `prepared`): some clients
    // at once, and now and then a series of numbers that takes long. Returns for how long they
    // waited at most, all together, seconds.
    double load(const char* protocol) const;
    double fail_once() const; // a statement that ends in an error; likewise

    // Since the last call of this.
    struct Logged {
        uint64_t queries = 0; // of a client, each with its answer
        uint64_t errors = 0;
        double seconds = 0; // of all that took some
    };
    Logged logged();

  private:
    // The exit code is that. Returns what it took, for each client, seconds.
    double ask(const std::string& script, const std::string& protocol, int clients, int times,
               int code) const;
};

} // namespace auger::test
