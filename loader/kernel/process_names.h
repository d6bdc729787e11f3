// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessNames: what names of all runtimes' functions have in common: which processes have some,
// how much memory they take, and which processes are left alone since they let us wait.
#pragma once

#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
#include "loader/kernel/look_budget.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"
#include "loader/runtimes/read_memory.h"

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

// The two words of a frame.
struct FrameKey {
    uint64_t first, second;
    friend bool operator==(const FrameKey&, const FrameKey&) = default;
};
struct FrameKeyHash {
    size_t operator()(const FrameKey& key) const noexcept {
        return (key.first ^ key.second * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 7;
    }
};

// FNV-1a: the same in every process, so that recordings of several machines agree.
inline constexpr uint64_t empty_hash = 0xcbf29ce484222325;
inline uint64_t add_to_hash(uint64_t hash, std::string_view text) {
    for (const char byte : text)
        hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    return hash;
}

// `Layout`: where a process's runtime has what names are made of. `Known`: what is known of one
// process, with clear().
template <typename Layout, typename Known>
class ProcessNames {
  public:
    struct Process {
        uint64_t executed_ns = 0;
        std::shared_ptr<const Layout> layout;
        bool ended = false;
        Known known;
        size_t bytes = 0; // of it
        // Of one that let us wait: until when it is not asked again, and how long that is.
        uint64_t spared_until_ns = 0;
        uint64_t spared_ns = 0;
        LookBudget budget;
    };
    // CPU time for reading names, of all processes and of one: as fast as it may be in the
    // beginning, when all are new, and no more than that of what always has others.
    static constexpr LookPace of_all = {4, 2'000'000'000}, of_process = {10, 700'000'000};
    // Of all processes, and of one: what is beyond is forgotten, and read again. A process's
    // functions may be any number, and their names of any length.
    ProcessNames(size_t most_bytes, size_t most_bytes_of_process)
        : most_bytes_(most_bytes), most_bytes_of_process_(most_bytes_of_process) {}

    // The process runs a runtime of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const Layout> layout) {
        Process& process = processes_[pid];
        if (process.layout == layout && process.executed_ns == executed_ns && !process.ended)
            return;
        forget(process);
        process = {};
        process.executed_ns = executed_ns;
        process.layout = std::move(layout);
    }
    // It runs none any more. What is known of it stays for a while: of records that are still to be
    // taken in.
    void end(pid_t pid) {
        const auto process = processes_.find(pid);
        if (process == processes_.end() || process->second.ended)
            return;
        process->second.ended = true;
        ended_.push_back(pid);
        if (ended_.size() <= most_ended)
            return;
        if (const auto oldest = processes_.find(ended_.front());
            oldest != processes_.end() && oldest->second.ended) {
            forget(oldest->second);
            processes_.erase(oldest);
        }
        ended_.pop_front();
    }
    // Null: it is not known.
    Process* find(pid_t pid) {
        const auto process = processes_.find(pid);
        return process != processes_.end() ? &process->second : nullptr;
    }

    // Those that run such a runtime.
    std::vector<pid_t> running() const {
        std::vector<pid_t> pids;
        for (const auto& [pid, process] : processes_)
            if (!process.ended)
                pids.push_back(pid);
        return pids;
    }

    // Before more is known of it.
    void make_room(Process& process) {
        if (process.bytes >= most_bytes_of_process_)
            forget(process);
        if (bytes_ < most_bytes_)
            return;
        const auto by_bytes = [](const auto& one, const auto& other) {
            return one.second.bytes < other.second.bytes;
        };
        forget(std::ranges::max_element(processes_, by_bytes)->second);
    }
    void count(Process& process, size_t bytes) {
        process.bytes += bytes;
        bytes_ += bytes;
    }
    void discount(Process& process, size_t bytes) {
        process.bytes -= bytes;
        bytes_ -= bytes;
    }
    size_t bytes() const { return bytes_; }

    // What `read_out` makes of the process's memory and its layout, in a bounded time. It owns all
    // that it uses. Nothing: the process lets us wait.
    template <typename ReadOut>
    auto read(Process& process, pid_t pid, ReadOut read_out)
        -> std::optional<decltype(read_out(ReadMemory(), *process.layout))> {
        struct Reading {
            std::optional<decltype(read_out(ReadMemory(), *process.layout))> answer;
            uint64_t cpu_ns = 0;
        };
        const uint64_t now_ns = clock_ns();
        if (now_ns < process.spared_until_ns || !budget_.may_look(now_ns, of_all) ||
            !process.budget.may_look(now_ns, of_process))
            return std::nullopt;
        // Of both threads: should it be late, that one still writes.
        const auto reading = std::make_shared<Reading>();
        const bool in_time = run_in_time(pid, [reading, layout = process.layout, pid, read_out] {
            const uint64_t begin_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
            const OpenMemory memory(living_thread(pid));
            const ReadMemory read = [&memory](uint64_t from, void* bytes, size_t size) {
                return memory.copy(from, bytes, size) ? MemoryRead::whole : MemoryRead::unreadable;
            };
            reading->answer = read_out(read, *layout);
            reading->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
        });
        if (in_time) {
            budget_.spend(reading->cpu_ns);
            process.budget.spend(reading->cpu_ns);
            return std::move(reading->answer);
        }
        process.spared_ns = std::clamp(2 * process.spared_ns, second_ns, longest_pause_ns);
        process.spared_until_ns = clock_ns() + process.spared_ns;
        return std::nullopt;
    }

  private:
    static constexpr size_t most_ended = 1024;
    static constexpr uint64_t longest_pause_ns = 64 * second_ns;

    void forget(Process& process) {
        process.known.clear();
        bytes_ -= std::exchange(process.bytes, 0);
    }

    const size_t most_bytes_, most_bytes_of_process_;
    std::unordered_map<pid_t, Process> processes_;
    std::deque<pid_t> ended_; // in this order; some of the numbers may be in use again
    size_t bytes_ = 0;        // of all processes
    LookBudget budget_;       // likewise
};

} // namespace auger
