// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hotspot_processes.h"

#include "bpf/unwind_table.h"
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

// A walk that began before must not read another process's: as with cells.
uint32_t HotspotProcesses::new_number(uint64_t now_ns) {
    if (!free_numbers_.empty() && free_numbers_.front().first <= now_ns) {
        const uint32_t number = free_numbers_.front().second;
        free_numbers_.pop_front();
        return number;
    }
    return numbers_ < WIRE_HOTSPOT_PROCESSES ? ++numbers_ : 0;
}

void HotspotProcesses::release(const Process& process, uint64_t now_ns) {
    if (process.number)
        free_numbers_.emplace_back(now_ns + WIRE_UNWIND_REST_NS, process.number);
}

Result<uint32_t> HotspotProcesses::set(pid_t pid, uint64_t executed_ns, const Tables& tables,
                                       uint64_t now_ns) {
    Process& process = processes_[pid];
    if (process.executed_ns != executed_ns || process.tables != tables) {
        release(process, now_ns);
        process = {};
        process.executed_ns = executed_ns;
        process.tables = tables;
    }
    if (process.given_up)
        return process.problem;
    if (process.layout || now_ns < process.again_ns)
        return process.number;
    auto layout = read(pid, tables);
    if (!layout && layout.error().kind != Error::Kind::unsupported) {
        process.pause_ns = std::clamp(2 * process.pause_ns, shortest_look_ns, longest_look_ns);
        process.again_ns = now_ns + process.pause_ns;
        return 0u;
    }
    process.number = layout ? new_number(now_ns) : 0;
    const uint32_t key = process.number - 1;
    if (layout &&
        (!process.number || bpf_map_update_elem(processes_fd_, &key, &layout->walk, BPF_ANY) < 0))
        layout =
            Error{"show Java's methods", "", "there are too many processes that run Java",
                  "generated code is shown by its addresses instead", Error::Kind::unsupported};
    if (!layout) {
        release(process, now_ns);
        process.number = 0;
        process.given_up = true;
        process.problem = layout.error();
        return process.problem;
    }
    process.layout = std::make_shared<const HotspotLayout>(*std::move(layout));
    names_.set_layout(pid, executed_ns, process.layout);
    return process.number;
}

void HotspotProcesses::end(pid_t pid, uint64_t now_ns) {
    const auto process = processes_.find(pid);
    if (process == processes_.end())
        return;
    release(process->second, now_ns);
    processes_.erase(process);
    names_.end(pid);
}

const wire_hotspot* HotspotProcesses::known(pid_t pid) const {
    const auto process = processes_.find(pid);
    return process != processes_.end() && process->second.layout ? &process->second.layout->walk
                                                                 : nullptr;
}

std::vector<pid_t> HotspotProcesses::starting(uint64_t now_ns) const {
    std::vector<pid_t> pids;
    for (const auto& [pid, process] : processes_)
        if (!process.layout && !process.given_up && process.again_ns <= now_ns)
            pids.push_back(pid);
    return pids;
}

} // namespace auger
