// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hotspot_processes.h"

#include "bpf/unwind_table.h"
#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
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
constexpr uint64_t rest_per_look = 9; // as long as the look
// Each leaves a thread waiting, of which there are so many (run_in_time.h).
constexpr int most_late = 3;

} // namespace

std::optional<Result<HotspotLayout>> HotspotProcesses::read(pid_t pid, const Tables& tables) {
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<std::optional<Result<HotspotLayout>>>();
    const uint64_t began = clock_ns();
    const bool in_time = run_in_time(pid, [answer, pid, tables] {
        const OpenMemory memory(living_thread(pid));
        const ReadMemory read = [&memory](uint64_t from, void* bytes, size_t size) {
            return memory.copy(from, bytes, size) ? MemoryRead::whole : MemoryRead::unreadable;
        };
        *answer = hotspot_layout(read, tables.structs, tables.types);
    });
    const uint64_t ended = clock_ns();
    looks_from_ns_ = ended + rest_per_look * (ended - began);
    return in_time ? *answer : std::nullopt;
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

void HotspotProcesses::release(Process& process, uint64_t now_ns) {
    if (!process.number)
        return;
    free_numbers_.emplace_back(now_ns + WIRE_UNWIND_REST_NS, std::exchange(process.number, 0));
    const auto others = numbers_of_.find(process.user);
    if (others != numbers_of_.end() && --others->second == 0)
        numbers_of_.erase(others);
}

// False: there is no room.
bool HotspotProcesses::enter(Process& process, pid_t pid, const wire_hotspot& walk,
                             uint64_t now_ns) {
    constexpr auto nobody = static_cast<uid_t>(-1);
    const auto user = uid_of(pid);
    process.user = user ? *user : nobody;
    const auto others = numbers_of_.find(process.user);
    if (others != numbers_of_.end() && others->second >= most_of_user)
        return false;
    process.number = new_number(now_ns);
    if (!process.number)
        return false;
    if (process.user != 0)
        numbers_of_[process.user]++;
    const uint32_t key = process.number - 1;
    if (bpf_map_update_elem(processes_fd_, &key, &walk, BPF_ANY) == 0)
        return true;
    release(process, now_ns);
    return false;
}

// What has not come for so long is said, and may still come.
Result<uint32_t> HotspotProcesses::look_again(Process& process, const Error& problem,
                                              uint64_t now_ns) {
    process.pause_ns = std::clamp(2 * process.pause_ns, shortest_look_ns, longest_look_ns);
    process.again_ns = now_ns + process.pause_ns;
    if (process.pause_ns == longest_look_ns)
        return problem;
    return 0u;
}

Result<uint32_t> HotspotProcesses::set(pid_t pid, uint64_t executed_ns, const Tables& tables,
                                       uint64_t now_ns, const Search& search) {
    Process& process = processes_[pid];
    if (process.executed_ns != executed_ns || process.tables != tables) {
        release(process, now_ns);
        process = {};
        process.executed_ns = executed_ns;
        process.tables = tables;
    }
    if (process.given_up)
        return *process.given_up;
    if (process.layout || now_ns < process.again_ns)
        return process.number;
    auto layout = read(pid, tables);
    if (!layout) {
        const Error late{"read HotSpot's tables", "", "its memory could not be read in time", ""};
        if (++process.late < most_late)
            return look_again(process, late, now_ns);
        process.given_up = late;
        return late;
    }
    if (!*layout && layout->error().kind != Error::Kind::unsupported)
        return look_again(process, layout->error(), now_ns);
    if (!*layout) {
        process.given_up = layout->error();
        return *process.given_up;
    }
    if (!enter(process, pid, (*layout)->walk, now_ns)) {
        process.pause_ns = longest_look_ns;
        return look_again(process,
                          {"show Java's methods", "",
                           "there are too many processes that run Java, or too many of one user's",
                           "generated code is shown by its addresses instead"},
                          now_ns);
    }
    process.layout = std::make_shared<const HotspotLayout>(**std::move(layout));
    bool is_late = false;
    if (process.layout->thread_owner)
        if (const auto place = search(is_late); place && *place)
            process.thread = **place;
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

wire_virtual_threads HotspotProcesses::virtual_threads(pid_t pid) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || !process->second.layout)
        return {};
    const HotspotLayout& layout = *process->second.layout;
    return {process->second.thread, layout.thread_owner, layout.thread_continuation};
}

std::optional<pid_t> HotspotProcesses::starting(uint64_t now_ns) const {
    std::optional<pid_t> next;
    if (now_ns < looks_from_ns_)
        return next;
    uint64_t shortest_ns = UINT64_MAX;
    for (const auto& [pid, process] : processes_) {
        if (process.layout || process.given_up || process.again_ns > now_ns ||
            process.pause_ns >= shortest_ns)
            continue;
        next = pid;
        shortest_ns = process.pause_ns;
    }
    return next;
}

} // namespace auger
