// SPDX-License-Identifier: GPL-3.0-or-later
// LiveSampling: what is sampled of the target, and how often: running threads by perf events,
// waiting ones by the off-CPU sampler, and more of what a gate lets through.
#pragma once

#include "loader/kernel/features.h"
#include "loader/kernel/live_gates.h"
#include "loader/kernel/off_cpu.h"
#include "loader/kernel/sampling.h"
#include "loader/kernel/thread_clocks.h"
#include "loader/settings/sampling_settings.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class LiveSampling {
  public:
    LiveSampling(Programs& programs, const Features& features, LiveGates& gates)
        : programs_(programs), features_(features), gates_(gates) {}

    // The ticks for another target, ready to be put in force; nothing without sampling.
    using Prepared = std::optional<Sampling>;
    Result<Prepared> prepare_target(bool everything, const std::vector<pid_t>& pids);
    // What is observed from now on, and what was prepared for it.
    void set_target(bool everything, std::vector<pid_t> pids, Prepared prepared);
    Result<void> set(const SamplingSettings& settings);
    // A process of the target. `inherits`: it was forked from one, with its perf events.
    Result<void> add_process(pid_t pid, bool inherits);
    void forget_process(pid_t pid) { std::erase(pids_, pid); }
    // A thread's clock begins when it is born, so one that lives for less than a period is never
    // sampled; and it is stopped and started whenever the thread leaves its CPU and comes back. The
    // CPUs' clocks, of which only ticks within the target count, hit all threads alike, and go on.
    // Until there is another target.
    Result<void> sample_cpus();
    bool samples_cpus() const { return cpus_ || everything_; }
    // Whether that would be better, because the target has so many threads now.
    bool wants_cpus() const { return sampling_ && !samples_cpus() && has_many_threads(pids_); }

    // What the clocks of threads have cost since the last call; nothing where CPUs' are sampled.
    ThreadClocks::Cost take_clock_cost();

    // The ledger's account of samples.
    void report(LedgerEvent& ledger) const;
    bool watches_waits() const { return off_cpu_.has_value(); }
    // How often these are sampled, while they are watched.
    uint32_t waits_hz() const;
    // Stacks say which task runs.
    bool with_tasks() const { return settings_.tasks; }
    void add_link_ids(std::vector<uint64_t>& ids) const;

  private:
    Result<Prepared> prepare(uint32_t rate_hz, bool everything, const std::vector<pid_t>& pids);
    static bool has_many_threads(const std::vector<pid_t>& pids);
    void set_contents(const SamplingSettings& settings, uint32_t ticks_hz);
    // Which label stacks of goroutines tell of.
    void set_go_label(const std::string& key);
    // The ticks so far end.
    void put_in_force(Prepared prepared);

    Programs& programs_;
    const Features& features_;
    LiveGates& gates_;
    bool everything_ = false;
    bool cpus_ = false;      // of the CPUs, though only some processes are observed
    bool next_cpus_ = false; // of the target that was prepared
    std::vector<pid_t> pids_;
    SamplingSettings settings_;
    std::optional<Sampling> sampling_;
    ThreadClocks thread_clocks_;
    std::optional<OffCpu> off_cpu_;
    uint32_t wall_epoch_ = 0; // the last one given
    // For the rate achieved: ticks and running time before the present rate was set.
    uint64_t ticks_before_ = 0;
    uint64_t on_cpu_before_ns_ = 0;
};

} // namespace auger
