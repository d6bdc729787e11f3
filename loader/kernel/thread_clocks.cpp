// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/thread_clocks.h"

#include "loader/base/read_clock.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/sampling.h"
#include "loader/kernel/switch_meter.h"
#include "loader/process/proc_info.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

namespace auger {

namespace {

// Of a clock that does not tick soon, and of one that ticks before the kernel's own next tick
// (which come 100 to 1,000 times a second), though not in every batch of rounds.
constexpr uint32_t seldom_hz = 1, often_hz = 500;

// A round between two threads that have such clocks.
std::optional<double> round_with_clocks(uint32_t rate_hz, bool hardware) {
    std::array<UniqueFd, 2> clocks;
    const auto start_clocks = [&](const std::array<pid_t, 2>& threads) {
        for (size_t i = 0; i < clocks.size(); i++) {
            auto clock = open_perf_event(clock_attributes(rate_hz, hardware, true, true),
                                         threads[i], -1, "calibration");
            if (!clock)
                return false;
            clocks[i] = std::move(*clock);
        }
        return true;
    };
    // A period is counted while the thread runs, which each does for a good quarter of the time.
    const uint64_t cycle_ns = rate_hz == often_hz ? 4 * second_ns / rate_hz : 0;
    return measure_round({.begin = start_clocks, .cycle_ns = cycle_ns});
}

double tick_of_kernel_ns() {
    timespec tick = {};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return static_cast<double>(tick.tv_nsec);
}

} // namespace

void ThreadClocks::measure(bool hardware) {
    constexpr double never = std::numeric_limits<double>::infinity();
    double without = never, seldom = never, often = never;
    // Whoever gets in the way makes it longer, and seldom does so each time.
    for (int time = 0; time < 3; time++) {
        without = std::min(without, measure_round({}).value_or(never));
        seldom = std::min(seldom, round_with_clocks(seldom_hz, hardware).value_or(never));
        often = std::min(often, round_with_clocks(often_hz, hardware).value_or(never));
    }
    if (often == never || seldom == never || without >= std::min(seldom, often))
        return;
    seldom_ns_ = (seldom - without) / switches_a_round;
    often_ns_ = std::max(seldom_ns_, (often - without) / switches_a_round);
}

double ThreadClocks::ns_a_switch(uint32_t rate_hz) const {
    const double often = std::min(1.0, tick_of_kernel_ns() * rate_hz / 1e9);
    return seldom_ns_ + (often_ns_ - seldom_ns_) * often;
}

ThreadClocks::Cost ThreadClocks::take(const std::vector<pid_t>& pids, uint32_t rate_hz) {
    std::map<pid_t, uint64_t> came;
    Cost cost;
    for (const pid_t pid : pids) {
        const auto threads = threads_of(pid);
        if (!threads)
            continue;
        for (const pid_t tid : *threads) {
            const auto times = times_on_cpu(tid);
            if (!times)
                continue;
            came[tid] = *times;
            const auto before = came_.find(tid);
            if (before != came_.end() && before->second <= *times)
                cost.switches += *times - before->second;
        }
    }
    came_ = std::move(came);
    cost.ns = static_cast<uint64_t>(static_cast<double>(cost.switches) * ns_a_switch(rate_hz));
    return cost;
}

} // namespace auger
