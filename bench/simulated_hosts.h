// SPDX-License-Identifier: GPL-3.0-or-later
// SimulatedHosts: agents of many hosts in simulated time, in a process of their own, so that what
// the console takes is the console's. What they say is made by the agent's own encoders, of a
// SimulatedService each; with very many hosts several say the same, each by its own clock.
#pragma once

#include "loader/base/fd.h"
#include "loader/remote/agent_process.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger::bench {

class SimulatedHosts {
  public:
    static constexpr uint32_t cpus = 4; // of each
    static constexpr uint64_t begin_ns = 1'000'000'000'000;

    // With so many behind each, which is a relay then. Throws std::runtime_error when there cannot
    // be so many.
    explicit SimulatedHosts(size_t hosts, size_t behind = 0);
    ~SimulatedHosts();
    SimulatedHosts(const SimulatedHosts&) = delete;
    SimulatedHosts& operator=(const SimulatedHosts&) = delete;

    // The pipe to one of them, once.
    remote::ConnectAgent connect(size_t host);
    // The console's clock.
    uint64_t now_ns() const { return now_ns_; }
    // Time passes; what is said by then lies in the pipes when this returns.
    void pass(uint64_t ns);
    // From now on the services are at work; before, agents only do as they are asked.
    void begin_work();

    uint64_t samples() const { return said_.samples; }     // that were said so far
    uint64_t taken_samples() const { return said_.taken; } // by services: relays fold them
    uint64_t bytes() const { return said_.bytes; }

    struct Said {
        uint64_t samples = 0, taken = 0, bytes = 0;
    };

  private:
    void send(bool begin);

    std::vector<UniqueFd> pipes_; // the console's ends
    UniqueFd control_;
    pid_t process_ = -1;
    uint64_t now_ns_ = begin_ns;
    Said said_;
};

} // namespace auger::bench
