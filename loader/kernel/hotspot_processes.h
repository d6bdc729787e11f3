// SPDX-License-Identifier: GPL-3.0-or-later
// HotspotProcesses: which processes run HotSpot: what walks need of each, in the kernel, and what
// names need. It is in the process, not in its file, and comes while HotSpot starts.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/hotspot_names.h"

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

class HotspotProcesses {
  public:
    HotspotProcesses(int processes_fd, HotspotNames& names)
        : processes_fd_(processes_fd), names_(names) {}

    // Where HotSpot's tables lie in a process.
    struct Tables {
        uint64_t structs = 0;
        uint64_t types = 0;
        friend bool operator==(const Tables&, const Tables&) = default;
    };
    // The process has them since it has executed its program. As wire_unwind_process::hotspot has
    // it; 0: it is starting, and is looked at again when starting() says so. Fails when it will not
    // be known.
    Result<uint32_t> set(pid_t pid, uint64_t executed_ns, const Tables& tables, uint64_t now_ns);
    // It has none any more.
    void end(pid_t pid, uint64_t now_ns);
    // What walks know of the process; null: nothing.
    const wire_hotspot* known(pid_t pid) const;
    // Processes that are to be looked at again by now.
    std::vector<pid_t> starting(uint64_t now_ns) const;

  private:
    struct Process {
        uint64_t executed_ns = 0;
        Tables tables;
        std::shared_ptr<const HotspotLayout> layout; // null: it is starting, or is not known
        uint32_t number = 0;                         // in the kernel's table, and 1; 0: it has none
        bool given_up = false;
        Error problem{};
        uint64_t again_ns = 0; // when it is looked at again, and how long that is
        uint64_t pause_ns = 0;
    };

    Result<HotspotLayout> read(pid_t pid, const Tables& tables) const;
    uint32_t new_number(uint64_t now_ns);
    void release(const Process& process, uint64_t now_ns);

    int processes_fd_;
    HotspotNames& names_;
    std::unordered_map<pid_t, Process> processes_;
    uint32_t numbers_ = 0;                                   // that were ever in use
    std::deque<std::pair<uint64_t, uint32_t>> free_numbers_; // from when on, number
};

} // namespace auger
