// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionNames: from the words that a walk has of an interpreter's frames to functions, files and
// lines, which are read out of the process at once: functions die, and their memory becomes
// others'.
#pragma once

#include "loader/base/read_clock.h"
#include "loader/kernel/clock.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"
#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/read_memory.h"
#include "loader/stream/events.h"

#include <fmt/format.h>

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

namespace auger {

struct FunctionName {
    std::string file;     // the module's path; "[python]" where `frame` says what is missing
    uint64_t address = 0; // in it: another one for each other function and line
    Frame frame;
};

// FNV-1a: the same in every process, so that recordings of several machines agree.
inline uint64_t hash_of_function(std::string_view name, uint32_t first_line, uint32_t line) {
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::string_view bytes) {
        for (const char byte : bytes)
            hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    };
    const std::array<uint32_t, 2> lines = {first_line, line};
    add(name);
    add({reinterpret_cast<const char*>(lines.data()), sizeof lines});
    return hash;
}

/*
 * `Runtime` has
 *     Layout, Function                 what functions are read by, and one
 *     label                            "python"
 *     frame_kind                       the bits of a frame's first word that are no address
 *     read(read, layout, address, cookie)  a variant of Function and FunctionProblem
 *     name(function, second)           a FunctionName: of the frame that has this second word
 *     bytes_of(function)               that it takes beside itself
 */
template <typename Runtime>
class FunctionNames {
  public:
    using Name = FunctionName;
    using Layout = typename Runtime::Layout;
    using Function = typename Runtime::Function;
    // Why frames have no names.
    enum class Missing : uint8_t { unreadable, gone, late };
    static constexpr size_t causes = 3;
    // Of all processes, and of one: what is beyond is forgotten, and read again. A process's
    // functions may be any number, and their names of any length.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 16 << 20;

    // The process runs an interpreter of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const Layout> layout);
    // It runs none any more. What is known of it stays for a while: of records that are still to be
    // taken in.
    void end(pid_t pid);

    // Of a frame's two words: see bpf/wire. Until the next call.
    const Name& name(pid_t pid, uint64_t first, uint64_t second);
    // Of what is known of all processes.
    size_t memory_bytes() const { return bytes_; }
    // Frames without names, by Missing.
    const std::array<uint64_t, causes>& missing() const { return missing_; }

  private:
    struct Key {
        uint64_t first, second;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        size_t operator()(const Key& key) const noexcept {
            return (key.first ^ key.second * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 7;
        }
    };
    struct Process {
        uint64_t executed_ns = 0;
        std::shared_ptr<const Layout> layout;
        bool ended = false;
        std::unordered_map<Key, Function, KeyHash> functions; // by address and cookie
        std::unordered_map<Key, Name, KeyHash> names;         // by a frame's words
        size_t bytes = 0;                                     // of both
        // Of one that let us wait: until when it is not asked again, and how long that is.
        uint64_t spared_until_ns = 0;
        uint64_t spared_ns = 0;
    };
    static constexpr size_t most_ended = 1024;
    static constexpr size_t entry_bytes = 64; // of an entry besides what it holds
    // How long a process is left alone whose memory could not be read in time: twice as long each
    // time.
    static constexpr uint64_t shortest_pause_ns = second_ns, longest_pause_ns = 64 * second_ns;

    void count(Process& process, size_t bytes);
    void forget_names(Process& process);
    void make_room(Process& process);
    const Name& unnamed(Missing cause);
    const Function* function_of(Process& process, pid_t pid, uint64_t address, uint32_t cookie,
                                Missing& missing);

    std::unordered_map<pid_t, Process> processes_;
    std::deque<pid_t> ended_; // in this order; some of the numbers may be in use again
    size_t bytes_ = 0;        // of all processes
    std::array<uint64_t, causes> missing_{};
};

template <typename Runtime>
void FunctionNames<Runtime>::set_layout(pid_t pid, uint64_t executed_ns,
                                        std::shared_ptr<const Layout> layout) {
    Process& process = processes_[pid];
    if (process.layout == layout && process.executed_ns == executed_ns && !process.ended)
        return;
    forget_names(process);
    process = {};
    process.executed_ns = executed_ns;
    process.layout = std::move(layout);
}

template <typename Runtime>
void FunctionNames<Runtime>::end(pid_t pid) {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || process->second.ended)
        return;
    process->second.ended = true;
    ended_.push_back(pid);
    if (ended_.size() <= most_ended)
        return;
    if (const auto oldest = processes_.find(ended_.front());
        oldest != processes_.end() && oldest->second.ended) {
        forget_names(oldest->second);
        processes_.erase(oldest);
    }
    ended_.pop_front();
}

template <typename Runtime>
void FunctionNames<Runtime>::count(Process& process, size_t bytes) {
    process.bytes += bytes;
    bytes_ += bytes;
}

template <typename Runtime>
void FunctionNames<Runtime>::forget_names(Process& process) {
    process.functions.clear();
    process.names.clear();
    bytes_ -= process.bytes;
    process.bytes = 0;
}

template <typename Runtime>
void FunctionNames<Runtime>::make_room(Process& process) {
    if (process.bytes >= most_bytes_of_process)
        forget_names(process);
    if (bytes_ < most_bytes)
        return;
    const auto by_bytes = [](const auto& one, const auto& other) {
        return one.second.bytes < other.second.bytes;
    };
    forget_names(std::ranges::max_element(processes_, by_bytes)->second);
}

template <typename Runtime>
const FunctionName& FunctionNames<Runtime>::unnamed(Missing cause) {
    static const auto make = [](uint64_t address, const char* why) {
        Name name;
        name.file = fmt::format("[{}]", Runtime::label);
        name.address = address;
        name.frame.function = fmt::format("[{}: {}]", Runtime::label, why);
        return name;
    };
    static const std::array<Name, causes> names = {
        make(1, "unreadable"),
        make(2, "gone before its name was read"),
        make(3, "its memory could not be read in time"),
    };
    missing_[static_cast<size_t>(cause)]++;
    return names[static_cast<size_t>(cause)];
}

template <typename Runtime>
auto FunctionNames<Runtime>::function_of(Process& process, pid_t pid, uint64_t address,
                                         uint32_t cookie, Missing& missing) -> const Function* {
    const Key key{address, cookie};
    if (const auto known = process.functions.find(key); known != process.functions.end())
        return &known->second;
    const uint64_t now = clock_ns();
    if (now < process.spared_until_ns) {
        missing = Missing::late;
        return nullptr;
    }
    // Of both threads: should it be late, that one still writes.
    const auto answer = std::make_shared<std::variant<Function, FunctionProblem>>();
    const bool in_time = run_in_time([answer, layout = process.layout, pid, address, cookie] {
        const pid_t tid = living_thread(pid);
        const ReadMemory read = [tid](uint64_t from, void* bytes, size_t size) {
            return copy_process_memory(tid, from, bytes, size) ? MemoryRead::whole
                                                               : MemoryRead::unreadable;
        };
        *answer = Runtime::read(read, *layout, address, cookie);
    });
    if (!in_time) {
        process.spared_ns = std::clamp(2 * process.spared_ns, shortest_pause_ns, longest_pause_ns);
        process.spared_until_ns = clock_ns() + process.spared_ns;
        missing = Missing::late;
        return nullptr;
    }
    if (auto* whole = std::get_if<Function>(answer.get())) {
        count(process, sizeof(Function) + entry_bytes + Runtime::bytes_of(*whole));
        return &process.functions.emplace(key, std::move(*whole)).first->second;
    }
    missing = std::get<FunctionProblem>(*answer) == FunctionProblem::gone ? Missing::gone
                                                                          : Missing::unreadable;
    return nullptr;
}

template <typename Runtime>
const FunctionName& FunctionNames<Runtime>::name(pid_t pid, uint64_t first, uint64_t second) {
    const auto process = processes_.find(pid);
    if (process == processes_.end())
        return unnamed(Missing::unreadable);
    auto& names = process->second.names;
    const Key key{first, second};
    if (const auto known = names.find(key); known != names.end())
        return known->second;
    make_room(process->second);
    Missing missing = Missing::unreadable;
    const Function* function = function_of(process->second, pid, first & ~Runtime::frame_kind,
                                           static_cast<uint32_t>(second), missing);
    if (!function)
        return unnamed(missing);
    const Name& name = names.emplace(key, Runtime::name(*function, second)).first->second;
    count(process->second, sizeof(Name) + entry_bytes + name.file.capacity() +
                               name.frame.function.capacity() + name.frame.file.capacity());
    return name;
}

} // namespace auger
