// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionNames: from the words that a walk has of an interpreter's frames to functions, files and
// lines, which are read out of the process at once: functions die, and their memory becomes
// others'.
#pragma once

#include "loader/kernel/process_names.h"
#include "loader/kernel/unnamed_frames.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

namespace auger {

inline uint64_t hash_of_function(std::string_view name, uint32_t first_line, uint32_t line) {
    const std::array<uint32_t, 2> lines = {first_line, line};
    return add_to_hash(add_to_hash(empty_hash, name),
                       {reinterpret_cast<const char*>(lines.data()), sizeof lines});
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
    static constexpr size_t causes = UnnamedFrames::causes;
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 16 << 20;

    // The process runs an interpreter of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const Layout> layout) {
        processes_.set_layout(pid, executed_ns, std::move(layout));
    }
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // Of a frame's two words: see bpf/wire. Until the next call.
    const Name& name(pid_t pid, uint64_t first, uint64_t second);
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by FunctionProblem.
    const std::array<uint64_t, causes>& missing() const { return unnamed_.counts(); }

  private:
    struct Known {
        std::unordered_map<FrameKey, Function, FrameKeyHash> functions; // by address and cookie
        std::unordered_map<FrameKey, Name, FrameKeyHash> names;         // by a frame's words
        void clear() {
            functions.clear();
            names.clear();
        }
    };
    using Processes = ProcessNames<Layout, Known>;
    static constexpr size_t entry_bytes = 64; // of an entry besides what it holds

    const Function* function_of(typename Processes::Process& process, pid_t pid, uint64_t address,
                                uint32_t cookie, FunctionProblem& problem);

    Processes processes_{most_bytes, most_bytes_of_process};
    UnnamedFrames unnamed_{Runtime::label};
};

template <typename Runtime>
auto FunctionNames<Runtime>::function_of(typename Processes::Process& process, pid_t pid,
                                         uint64_t address, uint32_t cookie,
                                         FunctionProblem& problem) -> const Function* {
    auto& functions = process.known.functions;
    const FrameKey key{address, cookie};
    if (const auto known = functions.find(key); known != functions.end())
        return &known->second;
    auto answer = processes_.read(process, pid,
                                  [address, cookie](const ReadMemory& read, const Layout& layout) {
                                      return Runtime::read(read, layout, address, cookie);
                                  });
    if (!answer) {
        problem = FunctionProblem::late;
        return nullptr;
    }
    if (auto* whole = std::get_if<Function>(&*answer)) {
        processes_.count(process, sizeof(Function) + entry_bytes + Runtime::bytes_of(*whole));
        return &functions.emplace(key, std::move(*whole)).first->second;
    }
    problem = std::get<FunctionProblem>(*answer);
    return nullptr;
}

template <typename Runtime>
const FunctionName& FunctionNames<Runtime>::name(pid_t pid, uint64_t first, uint64_t second) {
    auto* const process = processes_.find(pid);
    if (!process)
        return unnamed_.one(FunctionProblem::unreadable);
    auto& names = process->known.names;
    const FrameKey key{first, second};
    if (const auto known = names.find(key); known != names.end())
        return known->second;
    processes_.make_room(*process);
    FunctionProblem problem = FunctionProblem::unreadable;
    const Function* function = function_of(*process, pid, first & ~Runtime::frame_kind,
                                           static_cast<uint32_t>(second), problem);
    if (!function)
        return unnamed_.one(problem);
    const Name& name = names.emplace(key, Runtime::name(*function, second)).first->second;
    processes_.count(*process, sizeof(Name) + entry_bytes + name.file.capacity() +
                                   name.frame.function.capacity() + name.frame.file.capacity());
    return name;
}

} // namespace auger
