// SPDX-License-Identifier: GPL-3.0-or-later
// Server: a server whose requests are one call each, its clients, and what it says itself about how
// long its requests took.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger::test {

class Server : public ServerProcess {
  public:
    // Clients make their requests, all at once, and return when each is answered rightly; their
    // number. Throws (failing the test) when one is not.
    virtual uint64_t load() = 0;
    virtual double clients_at_once() const = 0;
    // In nanoseconds, of the requests since the last call of this, as the server's own log has
    // them, in whole microseconds.
    virtual std::vector<uint64_t> logged_durations() = 0;

    // The functions that the command file times. A `request` is entered once for each request, and
    // `extra_requests` times more during a load.
    virtual std::string script() const = 0;
    virtual std::string request() const = 0;
    virtual uint64_t extra_requests() const { return 0; }
    virtual bool request_includes_logged() const = 0; // the time that the log has is part of it
    virtual std::string inner() const = 0;            // once a request, part of the time in the log
    // The least that the quantile `q` of the inner function's durations is, where that of the log
    // is `logged_ns`, in nanoseconds.
    virtual double least_inner_ns(double q, double logged_ns) const = 0;
    // Whether this function is busy in slow requests, and in no others to speak of.
    virtual bool is_cause(std::string_view function) const = 0;
};

} // namespace auger::test
