// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessActivities: what every process of this machine does, from /proc, by the difference of two
// looks. For whoever wants to choose one. Names are raw.
#pragma once

#include "loader/process/proc_info.h"
#include "loader/process/users.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace auger {

struct ProcessActivity {
    pid_t pid = 0;
    std::string user; // real
    std::string comm;
    std::string command; // see command_line_of()
    uint32_t threads = 0;
    // Since the look before; 0 at the first. A process that is new counts from its start.
    double cpus = 0;           // CPU time, as a number of CPUs
    double waits_a_second = 0; // how often threads went off their CPUs to wait; of the first 32
};

class ProcessActivities {
  public:
    // Every process but kernel threads, auger's own and those that are ending; by pid.
    std::vector<ProcessActivity> look();

  private:
    struct Seen {
        uint64_t start_ticks = 0, cpu_ticks = 0, waits = 0;
        std::string user, command;
    };

    std::map<pid_t, Seen> seen_;
    UserNames users_;
    std::chrono::steady_clock::time_point looked_{};
};

} // namespace auger
