// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/thread_clocks.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/sampling.h"
#include "loader/kernel/switch_meter.h"
#include "loader/process/proc_info.h"
#include "loader/stats/clock_cost.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

namespace auger {

namespace {

// Of a clock that does not tick soon, and of one that ticks before the kernel's own next tick
// (which come 100 to 1,000 times a second) whenever it is started.
constexpr uint32_t seldom_hz = 1, often_hz = 2'000;
// Before some of those ticks it does not, and switches are then cheap and many: fewer than three
// quarters.
constexpr double often_quantile = 0.75;
// Whoever gets in the way makes it longer, and seldom does so each time.
constexpr int trials = 3;
constexpr double never = std::numeric_limits<double>::infinity();

// A round between two threads that have such clocks.
double round_with_clocks(uint32_t rate_hz, bool hardware, double quantile) {
    std::array<UniqueFd, 2> clocks;
    const auto begin = [&](const std::array<pid_t, 2>& threads) {
        for (size_t i = 0; i < clocks.size(); i++) {
            auto clock = open_perf_event(clock_attributes(rate_hz, hardware, true, true),
                                         threads[i], -1, "calibration");
            if (!clock)
                return false;
            clocks[i] = std::move(*clock);
        }
        return true;
    };
    return measure_round({.begin = begin, .quantile = quantile}).value_or(never);
}

double tick_of_kernel_ns() {
    timespec tick = {};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return static_cast<double>(tick.tv_nsec);
}

// For how much of its time a clock of that period ticks before the kernel does: what is left of its
// period, and of the kernel's, may be anything up to the whole.
double share_before_kernel(double period_ns) {
    const double tick_ns = tick_of_kernel_ns();
    return period_ns > tick_ns ? tick_ns / period_ns / 2 : 1 - period_ns / tick_ns / 2;
}

} // namespace

void ThreadClocks::measure(bool hardware) {
    if (often_ns_ > 0)
        return;
    double without = never, seldom = never, often = never;
    for (int trial = 0; trial < trials; trial++) {
        without = std::min(without, measure_round({}).value_or(never));
        seldom = std::min(seldom, round_with_clocks(seldom_hz, hardware, 0.5));
        often = std::min(often, round_with_clocks(often_hz, hardware, often_quantile));
    }
    if (often == never || seldom == never || without >= std::min(seldom, often))
        return;
    seldom_ns_ = (seldom - without) / switches_a_round;
    often_ns_ = std::max(seldom_ns_, (often - without) / switches_a_round);
}

ThreadClocks::Cost ThreadClocks::take(const std::vector<pid_t>& pids, uint32_t rate_hz) {
    const double share = share_before_kernel(1e9 / rate_hz);
    std::map<pid_t, OnCpu> now;
    Cost cost;
    double ns = 0;
    for (const pid_t pid : pids) {
        const auto threads = threads_of(pid);
        if (!threads)
            continue;
        for (const pid_t tid : *threads) {
            const auto ran = on_cpu(tid);
            if (!ran)
                continue;
            now[tid] = *ran;
            const auto known = ran_.find(tid);
            if (known == ran_.end() || known->second.times >= ran->times)
                continue;
            const uint64_t times = ran->times - known->second.times;
            const double mean_ns =
                static_cast<double>(ran->ns - known->second.ns) / static_cast<double>(times);
            cost.switches += times;
            ns += static_cast<double>(times) * clock_cost(mean_ns, seldom_ns_, often_ns_, share);
        }
    }
    ran_ = std::move(now);
    cost.ns = static_cast<uint64_t>(ns);
    return cost;
}

} // namespace auger
