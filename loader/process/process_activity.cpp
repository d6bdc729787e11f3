// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/process_activity.h"

#include "loader/process/command_line.h"

#include <unistd.h>

namespace auger {
namespace {

constexpr size_t most_threads = 32; // of a process, whose waits are counted

uint64_t waits_of_threads(pid_t pid) {
    const auto threads = threads_of(pid);
    uint64_t waits = 0;
    for (size_t i = 0; threads && i < threads->size() && i < most_threads; ++i) {
        if (const auto of_thread = waits_of((*threads)[i]))
            waits += *of_thread;
    }
    return waits;
}

bool is_ours(pid_t pid, const ProcessStat& stat) {
    return pid == getpid() || stat.parent == getpid();
}

double rate(uint64_t now, uint64_t before, double seconds) {
    return now > before && seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

} // namespace

std::vector<ProcessActivity> ProcessActivities::look() {
    const auto now = std::chrono::steady_clock::now();
    const bool first = looked_ == std::chrono::steady_clock::time_point{};
    const double seconds = first ? 0 : std::chrono::duration<double>(now - looked_).count();
    looked_ = now;
    const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));

    std::map<pid_t, Seen> seen;
    std::vector<ProcessActivity> activities;
    const auto pids = all_pids();
    for (const pid_t pid : pids ? *pids : std::vector<pid_t>{}) {
        const auto stat = read_stat(pid);
        if (!stat || stat->state == 'Z' || stat->state == 'X' || is_ours(pid, *stat))
            continue;
        const auto known = seen_.find(pid);
        Seen is{stat->start_ticks, stat->cpu_ticks, waits_of_threads(pid), {}, {}};
        Seen before; // zeros, of a process that is new
        if (known != seen_.end() && known->second.start_ticks == stat->start_ticks)
            before = known->second;
        // A program may have been executed since; the user hardly ever changes.
        const auto command = command_line_of(pid);
        if (!command || command->empty())
            continue; // a kernel thread, or gone
        is.command = *command;
        if (before.user.empty()) {
            const auto uid = uid_of(pid);
            is.user = uid ? users_.of(*uid) : "";
        } else {
            is.user = before.user;
        }
        activities.push_back({pid, is.user, stat->comm, is.command, stat->threads,
                              rate(is.cpu_ticks, before.cpu_ticks, seconds) / ticks_a_second,
                              rate(is.waits, before.waits, seconds)});
        seen.emplace(pid, std::move(is));
    }
    seen_ = std::move(seen);
    return activities;
}

} // namespace auger
