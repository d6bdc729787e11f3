// SPDX-License-Identifier: GPL-3.0-or-later
// Apache: a web server in C, with a pool of threads for all clients.
#pragma once

#include "tests/real/server.h"

namespace auger::test {

class Apache : public Server {
  public:
    Apache();

    static constexpr const char* programs[] = {"/usr/sbin/apache2", "/usr/bin/ab"};
    static constexpr const char* packages = "apache2-bin, apache2-utils";

    uint64_t load() override;
    void expect_answer() override;
    std::vector<uint64_t> logged_durations() override;
    // Killed: told to end on a busy machine, Apache's event MPM at times reads pools that are gone
    // when it cleans up (2.4.71: 11 of 316 runs of this load without auger, two side by side, died
    // of SIGSEGV in queue_info_cleanup() or apr_pool_destroy()). What was harmed before would not
    // have answered.
    int stop() override { return end(SIGKILL) == 128 + SIGKILL ? 0 : 1; }

    std::string script() const override { return "apache.aug"; }
    double clients_at_once() const override { return small_clients + large_clients; }
    std::string request() const override { return "ap_process_async_request"; }
    // Not of its beginning: the request's first line is read before.
    bool request_includes_logged() const override { return false; }
    std::string inner() const override { return "ap_run_handler"; }
    double least_inner_ns(double q, double logged_ns) const override;
    bool is_cause(std::string_view function) const override;

  private:
    static constexpr int pool = 16;
    static constexpr int small_requests = 3'000, small_clients = 12;
    static constexpr int large_requests = 60, large_clients = 2;

    // Throws when not all of them were answered in the right length.
    void request(const std::string& file, int requests, int clients) const;

    int port_;
};

} // namespace auger::test
