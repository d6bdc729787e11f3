// SPDX-License-Identifier: GPL-3.0-or-later
// nginx: a web server whose one thread goes from request to request.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace auger::test {

class Nginx : public ServerProcess {
  public:
    Nginx();

    // What tests/real/fetch puts there.
    static constexpr const char* programs[] = {AUGER_SERVERS_DIR "/usr/sbin/nginx", "/usr/bin/ab"};
    static constexpr const char* packages = "apache2-utils, and let `./run test` fetch nginx";

    static constexpr int clients = 10; // of the load

    void expect_answer() override { request("small", 1, 1); }
    // Small files and, at the same time, large ones, whose compression takes long; returns when all
    // are answered rightly. How many requests.
    uint64_t load() const;
    // As many that nginx makes wait, so that 20 a second are answered.
    uint64_t paced_load() const;
    // Those since the last call of this or the next.
    uint64_t logged_requests() { return logged_durations().size(); }
    // $request_time of each, in seconds, in the order in which they ended.
    std::vector<double> logged_durations();

  private:
    void request(const std::string& file, int requests, int clients) const;

    int port_;
};

} // namespace auger::test
