// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/own_priority.h"

#include <fmt/format.h>

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace auger {
namespace {

constexpr double starved = 0.5; // of the time it waited for a CPU

// Time spent on the CPU, time spent waiting for one, ... (proc/schedstat in the kernel's
// documentation). Nothing where the kernel has no CONFIG_SCHED_INFO.
std::optional<uint64_t> waited_for_a_cpu() {
    std::ifstream file("/proc/thread-self/schedstat");
    uint64_t ran_ns = 0, waited_ns = 0;
    return file >> ran_ns >> waited_ns ? std::optional(waited_ns) : std::nullopt;
}

} // namespace

OwnPriority::Change OwnPriority::judge(uint64_t now_ns, uint64_t waited_ns, uint64_t lost) {
    if (begin_ns_ && now_ns < begin_ns_ + span_ns)
        return Change::none;
    const bool first = begin_ns_ == 0;
    const auto length = static_cast<double>(now_ns - begin_ns_);
    share_waited_ = first ? 0 : static_cast<double>(waited_ns - waited_before_ns_) / length;
    lost_ = lost - lost_before_;
    begin_ns_ = now_ns;
    waited_before_ns_ = waited_ns;
    lost_before_ = lost;
    if (first)
        return Change::none;
    if (lost_ > 0)
        last_loss_ns_ = now_ns;
    if (!raised_ && !refused_ && lost_ > 0 && share_waited_ > starved)
        return Change::raise;
    if (raised_ && now_ns >= last_loss_ns_ + calm_ns)
        return Change::lower;
    return Change::none;
}

bool OwnPriority::raise() {
    usual_nice_ = getpriority(PRIO_PROCESS, 0);
    // The flag: what it starts, commands above all, is as nice as others, 0 (sched(7)).
    const sched_param none = {};
    raised_ = sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0 &&
              setpriority(PRIO_PROCESS, 0, std::min(usual_nice_, raised_nice)) == 0;
    refused_ = !raised_;
    return raised_;
}

void OwnPriority::lower() {
    setpriority(PRIO_PROCESS, 0, usual_nice_);
    // The flag stays where a limit allowed it, without CAP_SYS_NICE; it does nothing while the
    // priority is not raised.
    const sched_param none = {};
    sched_setscheduler(0, SCHED_OTHER, &none);
    raised_ = false;
}

std::optional<std::string> OwnPriority::update(uint64_t now_ns, uint64_t lost) {
    const auto waited_ns = waited_for_a_cpu();
    if (!waited_ns)
        return std::nullopt;
    switch (judge(now_ns, *waited_ns, lost)) {
    case Change::none:
        return std::nullopt;
    case Change::lower:
        lower();
        return fmt::format("no event was lost for {} s: auger runs at nice {} again",
                           calm_ns / 1'000'000'000, usual_nice_);
    case Change::raise:
        break;
    }
    const std::string why =
        fmt::format("auger waited for a CPU {:.0f} % of the time, and {} events were lost",
                    100 * share_waited_, lost_);
    if (!raise())
        return why + ": its priority cannot be raised (needs CAP_SYS_NICE, or LimitNICE= "
                     "in its unit)";
    return fmt::format("{}: it runs at nice {} until none is lost for {} s", why,
                       getpriority(PRIO_PROCESS, 0), calm_ns / 1'000'000'000);
}

} // namespace auger
