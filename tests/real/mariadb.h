// SPDX-License-Identifier: GPL-3.0-or-later
// MariaDB: a database in C++, with a thread for each client.
#pragma once

#include "tests/real/server.h"

namespace auger::test {

class MariaDb : public Server {
  public:
    MariaDb();

    static constexpr const char* programs[] = {"/usr/sbin/mariadbd", "/usr/bin/mariadb"};
    static constexpr const char* packages = "mariadb-server-core, mariadb-client-core";

    uint64_t load() override;
    void expect_answer() override;
    std::vector<uint64_t> logged_durations() override;
    // Its own count of commands, with this one, but not with the goodbye behind it, which has been
    // said when this returns.
    uint64_t questions() const;

    std::string script() const override { return "mariadb.aug"; }
    double clients_at_once() const override { return clients; }
    std::string request() const override { return "dispatch_command"; }
    uint64_t extra_requests() const override { return clients; } // the goodbyes
    bool request_includes_logged() const override { return true; }
    std::string inner() const override { return "mysql_parse"; }
    // Half: behind it comes the end of the answer only, whose client, which that wakes, may take
    // the CPU until it has printed the row and sent its next statement, less than a statement.
    double least_inner_ns(double, double logged_ns) const override { return logged_ns / 2; }
    bool is_cause(std::string_view function) const override;

  private:
    static constexpr int clients = 8;
    static constexpr int statements = 1'500; // of each client
    static constexpr int scan_every = 25;    // so many of them read the whole table
    static constexpr int rows = 20'000;

    std::string answer(const std::string& statements) const; // throws when there is none
    size_t connections() const;                              // that the server has not closed yet
};

} // namespace auger::test
