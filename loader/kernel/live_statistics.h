// SPDX-License-Identifier: GPL-3.0-or-later
// LiveStatistics: the counters of the probes, read for all that follow them: the sink, the probes'
// own thresholds, those of gates, and how many explained calls are told. Changes when somebody else
// follows them.
#pragma once

#include "loader/kernel/live_explained.h"
#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_probes.h"

#include <cstdint>

namespace auger {

class LiveStatistics {
  public:
    LiveStatistics(LiveProbes& probes, LiveGates& gates, LiveExplained& explained)
        : probes_(probes), gates_(gates), explained_(explained) {}

    void read(uint64_t now_ns) {
        probes_.read_statistics(now_ns, [this](ProbeId probe, const StatsEvent& event) {
            gates_.on_stats(probe, event);
            explained_.on_stats(probe, event);
        });
        explained_.update(now_ns);
    }

  private:
    LiveProbes& probes_;
    LiveGates& gates_;
    LiveExplained& explained_;
};

} // namespace auger
