// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hotspot_processes.h"

#include "loader/base/read_clock.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace auger {

namespace {

// HotSpot starts within some tens of milliseconds; a process that only says that it is one never
// does.
constexpr uint64_t shortest_look_ns = 20 * millisecond_ns, longest_look_ns = 10 * second_ns;

} // namespace

Result<HotspotLayout> HotspotProcesses::read(pid_t pid, const Tables& tables) const {
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<std::optional<Result<HotspotLayout>>>();
    const bool in_time = run_in_time([answer, pid, tables] {
        const pid_t tid = living_thread(pid);
        const ReadMemory read = [tid](uint64_t from, void* bytes, size_t size) {
            return copy_process_memory(tid, from, bytes, size) ? MemoryRead::whole
                                                               : MemoryRead::unreadable;
        };
        *answer = hotspot_layout(read, tables.structs, tables.types);
    });
    if (!in_time || !*answer)
        return Error{"read HotSpot's tables", "", "its memory could not be read in time", ""};
    return **answer;
}

Result<bool> HotspotProcesses::set(pid_t pid, uint64_t executed_ns, const Tables& tables,
                                   uint64_t now_ns) {
    Process& process = processes_[pid];
    if (process.executed_ns != executed_ns || process.tables != tables) {
        process = {};
        process.executed_ns = executed_ns;
        process.tables = tables;
    }
    if (process.given_up)
        return process.problem;
    if (process.layout)
        return true;
    if (now_ns < process.again_ns)
        return false;
    auto layout = read(pid, tables);
    if (!layout && layout.error().kind != Error::Kind::unsupported) {
        process.pause_ns = std::clamp(2 * process.pause_ns, shortest_look_ns, longest_look_ns);
        process.again_ns = now_ns + process.pause_ns;
        return false;
    }
    const auto key = static_cast<uint32_t>(pid);
    if (layout && bpf_map_update_elem(processes_fd_, &key, &layout->walk, BPF_ANY) < 0)
        layout =
            Error{"show Java's methods", "", "there are too many processes that run Java",
                  "generated code is shown by its addresses instead", Error::Kind::unsupported};
    if (!layout) {
        process.given_up = true;
        process.problem = layout.error();
        return process.problem;
    }
    process.layout = std::make_shared<const HotspotLayout>(*std::move(layout));
    names_.set_layout(pid, executed_ns, process.layout);
    return true;
}

void HotspotProcesses::end(pid_t pid) {
    if (processes_.erase(pid) == 0)
        return;
    const auto key = static_cast<uint32_t>(pid);
    bpf_map_delete_elem(processes_fd_, &key);
    names_.end(pid);
}

std::vector<pid_t> HotspotProcesses::starting(uint64_t now_ns) const {
    std::vector<pid_t> pids;
    for (const auto& [pid, process] : processes_)
        if (!process.layout && !process.given_up && process.again_ns <= now_ns)
            pids.push_back(pid);
    return pids;
}

} // namespace auger
