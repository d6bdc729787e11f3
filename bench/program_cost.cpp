// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/program_cost.h"

#include <bpf/bpf.h>
#include <fcntl.h>

#include <filesystem>
#include <stdexcept>

namespace auger::bench {

UniqueFd program_statistics() {
    UniqueFd statistics(bpf_enable_stats(BPF_STATS_RUN_TIME));
    if (!statistics)
        throw std::runtime_error("switch on the statistics of BPF programs");
    return statistics;
}

Runs runs_of(int program_fd) {
    bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(program_fd, &info, &size))
        throw std::runtime_error("read a BPF program's statistics");
    return {info.run_cnt, info.run_time_ns};
}

double cost_of_run(const Runs& before, const Runs& after) {
    if (after.count == before.count)
        throw std::runtime_error("no samples were taken");
    return static_cast<double>(after.ns - before.ns) /
           static_cast<double>(after.count - before.count);
}

// Others may have loaded the same meanwhile, so it is one that this process holds.
UniqueFd find_bpf_program(const std::string& name) {
    UniqueFd found;
    uint32_t youngest = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        bpf_prog_info info = {};
        uint32_t size = sizeof(info);
        const int fd = std::stoi(entry.path().filename());
        // Of another kind of object the kernel says less, or nothing.
        if (bpf_obj_get_info_by_fd(fd, &info, &size) || size < sizeof(info) || name != info.name ||
            info.id < youngest)
            continue;
        youngest = info.id;
        found.reset(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    }
    if (!found)
        throw std::runtime_error("find the BPF program " + name);
    return found;
}

} // namespace auger::bench
