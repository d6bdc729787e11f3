// SPDX-License-Identifier: GPL-3.0-or-later
// LiveStatistics: the counters of the probes, read for all that follow them: the sink, the probes'
// own thresholds, and those of gates. Changes when somebody else follows them.
#pragma once

#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_probes.h"

#include <cstdint>

namespace auger {

class LiveStatistics {
  public:
    LiveStatistics(LiveProbes& probes, LiveGates& gates) : probes_(probes), gates_(gates) {}

    void read(uint64_t now_ns) {
        probes_.read_statistics(now_ns, [this](ProbeId probe, const StatsEvent& event) {
            gates_.on_stats(probe, event);
        });
    }

  private:
    LiveProbes& probes_;
    LiveGates& gates_;
};

} // namespace auger
