// SPDX-License-Identifier: GPL-3.0-or-later
// LiveSampling: what is sampled of the target, and how often: running threads by perf events,
// waiting ones by the off-CPU sampler, and more of what a gate lets through.
#pragma once

#include "loader/backend.h"
#include "loader/kernel/features.h"
#include "loader/kernel/live_gates.h"
#include "loader/kernel/off_cpu.h"
#include "loader/kernel/sampling.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class LiveSampling {
  public:
    LiveSampling(Programs& programs, const Features& features, LiveGates& gates)
        : programs_(programs), features_(features), gates_(gates) {}

    // What is observed from now on.
    Result<void> set_target(bool everything, std::vector<pid_t> pids);
    Result<void> set(const SamplingSettings& settings);
    // A process of the target. `inherits`: it was forked from one, with its perf events.
    Result<void> add_process(pid_t pid, bool inherits);
    void forget_process(pid_t pid) { std::erase(pids_, pid); }

    // The ledger's account of samples.
    void report(LedgerEvent& ledger) const;
    void add_link_ids(std::vector<uint64_t>& ids) const;

  private:
    Result<void> set_ticks(const SamplingSettings& settings);
    Result<void> restart(uint32_t rate_hz);
    Result<void> set_off_cpu(const SamplingSettings& settings);

    Programs& programs_;
    const Features& features_;
    LiveGates& gates_;
    bool everything_ = false;
    std::vector<pid_t> pids_;
    SamplingSettings settings_;
    std::optional<Sampling> sampling_;
    std::optional<OffCpu> off_cpu_;
    uint32_t wall_epoch_ = 0; // the last one given
    // For the rate achieved: ticks and running time before the present rate was set.
    uint64_t ticks_before_ = 0;
    uint64_t on_cpu_before_ns_ = 0;
};

} // namespace auger
