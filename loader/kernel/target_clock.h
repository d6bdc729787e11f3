// SPDX-License-Identifier: GPL-3.0-or-later
// TargetClock: CPU time of the target's processes, by the kernel's own account: of each process all
// its threads, those that have ended, too, to the nanosecond.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace auger {

class TargetClock {
  public:
    // Begins anew: what they have taken before does not count. `everything`: all CPUs.
    void set_target(bool everything, const std::vector<pid_t>& pids);
    // It came to the target; what it has taken since its birth counts.
    void on_started(pid_t pid) { processes_.try_emplace(pid, 0); }
    // `cpu_ns` as the kernel's word of its end says; 0: it says nothing.
    void on_exited(pid_t pid, uint64_t cpu_ns);
    // What was taken since the last call.
    uint64_t take();

  private:
    bool everything_ = false;
    std::map<pid_t, uint64_t> processes_; // CPU time at the last call
    uint64_t ended_ns_ = 0;               // of processes that have ended since then
    uint64_t machine_ns_ = 0;
};

} // namespace auger
