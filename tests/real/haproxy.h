// SPDX-License-Identifier: GPL-3.0-or-later
// HAProxy: a proxy whose threads go from request to request.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <string>

namespace auger::test {

class Haproxy : public ServerProcess {
  public:
    Haproxy();

    // What tests/real/fetch puts there.
    static constexpr const char* programs[] = {AUGER_SERVERS_DIR "/usr/sbin/haproxy", "/usr/bin/ab",
                                               "/usr/bin/curl"};
    static constexpr const char* packages =
        "apache2-utils, curl, libopentracing-c-wrapper0, and let "
        "`./run test` fetch haproxy";

    static constexpr int held_requests = 10, held_ms = 100;

    void expect_answer() override;
    // SIGUSR1 lets it end its requests first.
    int stop() override { return end(SIGUSR1); }
    // Requests that are answered at once and, after them, some that are held back for `held_ms`.
    // How many.
    uint64_t load() const;
    // How many it had, by its own count, before the one that asks.
    uint64_t requests() const;

  private:
    std::string get(const std::string& path) const;

    int port_;
};

} // namespace auger::test
