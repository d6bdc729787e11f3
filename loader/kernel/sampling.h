// SPDX-License-Identifier: GPL-3.0-or-later
// Sampling: the perf events that run the sampler. One a thread of the target, inherited by the
// threads and processes that come later; or one a CPU when everything is observed (these tick on
// idle CPUs too).
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/programs.h"

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace auger {

// What is counted so that it ticks at `rate_hz`, of one thread or CPU. `hardware`: as below.
// `inherit`: also of those that the thread starts. `started`: it need not be enabled.
perf_event_attr clock_attributes(uint32_t rate_hz, bool hardware, bool inherit, bool started);

class Sampling {
  public:
    static constexpr uint32_t max_rate_hz = 49'999;

    // `hardware`: count cycles (sampling at about the rate), else the cpu-clock timer (at the
    // rate). Nothing ticks before start().
    static Result<Sampling> per_cpu(const Programs& programs, uint32_t rate_hz, bool hardware);
    static Result<Sampling> per_process(const Programs& programs, uint32_t rate_hz, bool hardware,
                                        std::span<const pid_t> pids);
    Sampling(Sampling&&) noexcept = default;
    Sampling& operator=(Sampling&&) noexcept = default;

    // A process that became a target otherwise than by being forked from one. A process that is
    // gone already is no error.
    Result<void> add_process(pid_t pid);

    void start();
    uint32_t rate_hz() const { return rate_hz_; }
    bool hardware() const { return hardware_; }
    // Nanoseconds for which the events were counting, summed over threads (or CPUs).
    uint64_t running_ns() const;
    // Stops the ticks at once; the counters can still be read.
    void stop();

  private:
    Sampling(int program_fd, uint32_t rate_hz, bool hardware)
        : program_fd_(program_fd), rate_hz_(rate_hz), hardware_(hardware) {}
    Result<void> add(pid_t tid, int cpu);

    int program_fd_;
    uint32_t rate_hz_;
    bool hardware_;
    bool started_ = false;
    std::vector<UniqueFd> events_;
};

} // namespace auger
