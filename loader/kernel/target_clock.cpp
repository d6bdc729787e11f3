// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/target_clock.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

namespace auger {

namespace {

// 0: it is gone.
uint64_t cpu_time_of(pid_t pid) {
    clockid_t clock = 0;
    timespec now = {};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Of all processes but our own, by the kernel's account of its CPUs, which counts in ticks of
// 10 ms: user, nice, system; interrupts, which take whoever runs.
uint64_t busy_time_of_machine() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    uint64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0;
    if (!(stat >> cpu >> user >> nice >> system >> idle >> waiting >> hard >> soft))
        return 0;
    static const auto ticks_a_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    const uint64_t all = (user + nice + system + hard + soft) * (1'000'000'000 / ticks_a_second);
    const uint64_t own = cpu_time_of(getpid());
    return all > own ? all - own : 0;
}

} // namespace

void TargetClock::set_target(bool everything, const std::vector<pid_t>& pids) {
    everything_ = everything;
    processes_.clear();
    ended_ns_ = 0;
    if (everything_) {
        machine_ns_ = busy_time_of_machine();
        return;
    }
    for (const pid_t pid : pids)
        processes_[pid] = cpu_time_of(pid);
}

void TargetClock::on_exited(pid_t pid, uint64_t cpu_ns) {
    const auto found = processes_.find(pid);
    if (found == processes_.end())
        return;
    if (cpu_ns > found->second)
        ended_ns_ += cpu_ns - found->second;
    processes_.erase(found);
}

uint64_t TargetClock::take() {
    if (everything_) {
        const uint64_t now = busy_time_of_machine(), before = machine_ns_;
        machine_ns_ = now;
        return now > before ? now - before : 0;
    }
    uint64_t sum = ended_ns_;
    ended_ns_ = 0;
    for (auto& [pid, before] : processes_) {
        const uint64_t now = cpu_time_of(pid);
        if (now <= before) // has ended: the word of it is on its way
            continue;
        sum += now - before;
        before = now;
    }
    return sum;
}

} // namespace auger
