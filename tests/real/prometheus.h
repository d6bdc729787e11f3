// SPDX-License-Identifier: GPL-3.0-or-later
// Prometheus, which scrapes some of this machine's ports.
#pragma once

#include "tests/real/server_process.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace auger::test {

class Prometheus : public ServerProcess {
  public:
    // `token_file`: of all of them. `native`: it asks for native histograms, too.
    Prometheus(const std::vector<int>& ports, const std::string& token_file, bool native);

    // What tests/real/fetch puts there.
    static constexpr const char* programs[] = {AUGER_SERVERS_DIR "/usr/bin/prometheus"};
    static constexpr const char* packages = "nothing, but let `./run test` fetch prometheus";

    void expect_answer() override;
    using Time = std::chrono::system_clock::time_point;
    // The last moment of which all is known: scrapes that began by then have ended, or were given
    // up, which takes away what the host had before.
    static Time settled();
    // The value of the only series that there was at that time; NaN: there was none.
    double query(std::string_view expression, Time time) const;

  private:
    std::string get(const std::string& path) const;

    const int port_;
};

} // namespace auger::test
