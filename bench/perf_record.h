// SPDX-License-Identifier: GPL-3.0-or-later
// perf record as a peer: attached to a process from the start, and told when to sample.
#pragma once

#include "bench/child.h"

#include "loader/base/fd.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace auger::bench {

// Asleep until it is enabled.
class PerfRecord {
  public:
    // `perf`: the program. `call_graph` as its option of that name takes it: "fp", "dwarf".
    PerfRecord(const std::string& perf, pid_t pid, uint32_t rate_hz, const std::string& call_graph,
               const std::string& file);
    ~PerfRecord(); // waits until the file is whole

    // "enable" or "disable"; returns when it has done so.
    void tell(const std::string& command);

  private:
    UniqueFd control_, answers_;
    std::optional<Child> child_;
};

} // namespace auger::bench
