// SPDX-License-Identifier: GPL-3.0-or-later
// LiveGates: writes gates into the kernel, each into the one of its use's two that is not in force,
// and puts it in force by one store, so that no event meets half of one. Thresholds that are
// percentiles move with the probe's calls.
#pragma once

#include "loader/kernel/programs.h"
#include "loader/stats/threshold_follower.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace auger {

class LiveProbes;

class LiveGates {
  public:
    LiveGates(Programs& programs, LiveProbes& probes) : programs_(programs), probes_(probes) {}

    // The empty gate lets everything pass. Fails without a change: unknown probes and cgroups,
    // names that are too long, too many terms.
    Result<void> set(wire_gate_use use, const Gate& gate);
    // New statistics of one of the probe's specs.
    void on_stats(ProbeId probe, const StatsEvent& event);
    // Whether the gate of this use lets a sample through of a process, in these calls, of which the
    // kernel's side knows nothing. As a thread it is the process's first one.
    bool passes(wire_gate_use use, pid_t pid, std::span<const CallKey> calls,
                uint64_t time_ns) const;
    // Whether a gate asks for the probe's calls.
    bool uses(ProbeId probe) const;

  private:
    struct Term {
        uint32_t index;
        ProbeId probe;
        ThresholdFollower follower;
    };
    struct InForce {
        uint32_t which = 0; // as in wire_config.gate
        wire_gate wire{};
        std::vector<Term> calls; // terms of kind `call`
    };
    Result<void> write(uint32_t index, const wire_gate& gate) const;
    bool holds(const InForce& gate, size_t term, pid_t pid, std::span<const CallKey> calls,
               uint64_t time_ns) const;

    Programs& programs_;
    LiveProbes& probes_;
    std::array<InForce, WIRE_GATE_USES> gates_;
};

} // namespace auger
