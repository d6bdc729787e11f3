// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/clock_choice.h"

#include "loader/kernel/clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// One in so many ns of the target: what clocks add to calls stays in their durations.
constexpr uint64_t lowest_share_of_clocks = 100;
// One in so many ns of a CPU: a target that is idle has hardly any time to be a share of.
constexpr uint64_t lowest_load_of_clocks = 10'000;

} // namespace

void ClockChoice::begin_anew() {
    births_ = ends_ = {};
    threads_are_short_lived_ = cannot_sample_cpus_ = false;
}

// Others come while many go: a program that starts all its threads at once, as servers do, has no
// short-lived ones.
void ClockChoice::on_thread_birth(uint64_t time_ns) {
    births_.add(time_ns);
    if (threads_are_short_lived_ || !births_.often(time_ns) || !ends_.often(time_ns))
        return;
    threads_are_short_lived_ = true;
    sample_cpus("the target starts and ends threads often: sampling by CPU from now on, keeping "
                "the target's samples, so that short-lived threads are not missed");
}

void ClockChoice::judge(const Overhead& overhead) {
    if (sampling_.wants_cpus())
        sample_cpus("the target has many threads: sampling by CPU from now on, keeping the "
                    "target's samples");
    const auto clocks =
        std::ranges::find(overhead.causes, Overhead::Cause::Kind::clocks, &Overhead::Cause::kind);
    if (clocks == overhead.causes.end() || !overhead.target_ns ||
        clocks->cost_ns < overhead.target_ns / lowest_share_of_clocks ||
        clocks->cost_ns < (overhead.end_ns - overhead.begin_ns) / lowest_load_of_clocks)
        return;
    sample_cpus(fmt::format(
        "overhead: stopping and starting the sampling clocks of the target's threads at {:.0f} "
        "context switches a second took {:.0f} % of its CPU time: sampling by CPU from now on, "
        "keeping the target's samples",
        static_cast<double>(clocks->events) * 1e9 /
            static_cast<double>(overhead.end_ns - overhead.begin_ns),
        100 * static_cast<double>(clocks->cost_ns) / static_cast<double>(overhead.target_ns)));
}

void ClockChoice::sample_cpus(const std::string& why) {
    if (sampling_.samples_cpus() || cannot_sample_cpus_)
        return; // it is so, or was said
    auto set = sampling_.sample_cpus();
    cannot_sample_cpus_ = !set;
    sink_.on_notice(clock_ns(), set ? why : set.error().message());
}

} // namespace auger
