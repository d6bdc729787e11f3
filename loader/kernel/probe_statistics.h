// SPDX-License-Identifier: GPL-3.0-or-later
// ProbeStatistics: what the kernel counts of the probes' calls, told to the sink, and how often the
// probes were hit. Changes when something else is counted.
#pragma once

#include "loader/kernel/hit_costs.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/spec_table.h"
#include "loader/kernel/timed_probe.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace auger {

// How often the probes of a function were hit since it is timed, and what hits cost with the probes
// that it has now. It may have had others.
struct SpecHits {
    ProbeId probe;
    SpecTable::Hits counts{};
    bool in_go = false;
    uint64_t entry_ns = 0, exit_ns = 0, stepped_ns = 0;

    uint64_t hits() const { return counts.entries + counts.exits; }
    // What those since `before` have cost; what has been measured is in it.
    uint64_t cost_ns_since(const SpecHits& before) const;
};

class ProbeStatistics {
  public:
    ProbeStatistics(const Programs& programs, SpecTable& specs, EventSink& sink)
        : programs_(programs), specs_(specs), sink_(sink) {}

    using Told = std::function<void(ProbeId, const StatsEvent&)>;
    // Tells the sink, the probe's follower and `told`. Whether its threshold has moved.
    bool read(ProbeId id, TimedProbe& probe, uint64_t now_ns, const Told& told);
    // Of a spec whose probes fire no more: calls that are open are dropped.
    void read_last(SpecId spec, uint64_t now_ns);
    std::map<SpecId, SpecHits> hits(const std::map<ProbeId, TimedProbe>& probes,
                                    const HitCosts& costs) const;

  private:
    const Programs& programs_;
    SpecTable& specs_;
    EventSink& sink_;
};

} // namespace auger
