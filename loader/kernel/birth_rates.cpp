// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/birth_rates.h"

#include "loader/kernel/clock.h"

#include <fmt/format.h>

namespace auger {

namespace {

// One in so many ns of the target: what clocks add to calls stays in their durations.
constexpr uint64_t lowest_share_of_clocks = 100;

} // namespace

void BirthRates::begin_anew() {
    process_births_ = births_ = ends_ = {};
    threads_are_short_lived_ = false;
}

bool BirthRates::on_process_birth(uint64_t time_ns) {
    process_births_.add(time_ns);
    return process_births_.often(time_ns);
}

// Others come while many go: a program that starts all its threads at once, as servers do, has no
// short-lived ones.
void BirthRates::on_thread_birth(uint64_t time_ns) {
    births_.add(time_ns);
    if (threads_are_short_lived_ || !births_.often(time_ns) || !ends_.often(time_ns))
        return;
    threads_are_short_lived_ = true;
    sample_cpus("the target starts and ends threads often: sampling by CPU from now on, keeping "
                "the target's samples, so that short-lived threads are not missed");
}

void BirthRates::count_threads() {
    if (sampling_.wants_cpus())
        sample_cpus("the target has many threads: sampling by CPU from now on, keeping the "
                    "target's samples");
}

void BirthRates::judge_clocks(const ThreadClocks::Cost& cost, uint64_t target_ns,
                              uint64_t span_ns) {
    if (!target_ns || cost.ns < target_ns / lowest_share_of_clocks)
        return;
    sample_cpus(fmt::format(
        "overhead: stopping and starting the sampling clocks of the target's threads at {:.0f} "
        "context switches a second took {:.0f} % of its CPU time: sampling by CPU from now on, "
        "keeping the target's samples",
        static_cast<double>(cost.switches) * 1e9 / static_cast<double>(span_ns),
        100 * static_cast<double>(cost.ns) / static_cast<double>(target_ns)));
}

void BirthRates::sample_cpus(const std::string& why) {
    auto set = sampling_.sample_cpus();
    sink_.on_notice(clock_ns(), set ? why : set.error().message());
}

} // namespace auger
