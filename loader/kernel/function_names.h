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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

namespace auger {

// Of a runtime whose frames have an address in the first word, and a cookie in the lower half of
// the second: the two alone.
inline FrameKey address_and_cookie(const FrameKey& words, uint64_t frame_kind) {
    return {words.first & ~frame_kind, static_cast<uint32_t>(words.second)};
}

// Of a file that has no module of its own, too, functions of equal names at equal lines are told
// apart.
inline uint64_t hash_of_function(std::string_view file, std::string_view name, uint32_t first_line,
                                 uint32_t line) {
    const std::array<uint32_t, 2> lines = {first_line, line};
    return add_to_hash(add_to_hash(add_to_hash(empty_hash, file), name),
                       {reinterpret_cast<const char*>(lines.data()), sizeof lines});
}

/*
 * `Runtime` has
 *     Layout, Function             what functions are read by, and one
 *     Words, WordsHash             what a walk has of a frame: two words, and perhaps more
 *     label                        "python"
 *     function_words(words)        those of the frame's function alone, without where in it
 *     read(read, layout, words)    of such: a variant of Function and FunctionProblem
 *     name(function, words)        a FunctionName: of the frame
 *     bytes_of(function)           that it takes beside itself
 *     without_reading(words, problem)   where there is such: what is known of a function whose
 *                                       reading had this problem, or nothing
 */
template <typename Runtime>
class FunctionNames {
  public:
    using Name = FunctionName;
    using Layout = typename Runtime::Layout;
    using Function = typename Runtime::Function;
    using Words = typename Runtime::Words;
    static constexpr size_t causes = UnnamedFrames::causes;
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 16 << 20;

    // The process runs an interpreter of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const Layout> layout) {
        processes_.set_layout(pid, executed_ns, std::move(layout));
    }
    // Of a layout that each process has one of: what is known stays when an equal one is said
    // again.
    void set_layout(pid_t pid, uint64_t executed_ns, const Layout& layout) {
        const auto* const process = processes_.find(pid);
        const bool is_known = process && process->layout && *process->layout == layout;
        set_layout(pid, executed_ns,
                   is_known ? process->layout : std::make_shared<const Layout>(layout));
    }
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // What the process runs, of a lineage as below; null: nothing that is known.
    const Layout* layout(std::span<const pid_t> lineage) {
        for (const pid_t pid : lineage)
            if (const auto* const process = processes_.find(pid))
                return process->layout.get();
        return nullptr;
    }
    const Layout* layout(pid_t pid) { return layout({&pid, 1}); }

    // Of a frame's words: see bpf/wire. Until the next call. `lineage`: the process, and before
    // whom it was forked from. A forked child may be gone, or execute another program, before its
    // frames are looked at; equal words are of an equal function in all of them.
    const Name& name(std::span<const pid_t> lineage, const Words& words);
    const Name& name(pid_t pid, const Words& words) { return name({&pid, 1}, words); }
    // What `read_out(read, layout)` makes of the memory of one of these that has it; it owns all
    // that it uses.
    template <typename ReadOut>
    auto ask(std::span<const pid_t> lineage, const ReadOut& read_out)
        -> decltype(read_out(ReadMemory(), std::declval<const Layout&>())) {
        for (const pid_t pid : lineage)
            if (auto* const process = processes_.find(pid))
                if (auto answer = processes_.read(*process, pid, read_out); answer && *answer)
                    return *answer;
        return {};
    }
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by FunctionProblem.
    const std::array<uint64_t, causes>& missing() const { return unnamed_.counts(); }

  private:
    struct Known {
        std::unordered_map<Words, Function, typename Runtime::WordsHash> functions; // by their own
        std::unordered_map<Words, Name, typename Runtime::WordsHash> names;         // by frames'
        void clear() {
            functions.clear();
            names.clear();
        }
    };
    using Processes = ProcessNames<Layout, Known>;
    static constexpr size_t entry_bytes = 64; // of an entry besides what it holds

    const Name* known_name(pid_t pid, const Words& words);
    const Name* read_name(pid_t pid, const Words& words, FunctionProblem& problem);
    const Name& keep_name(typename Processes::Process& process, const Function& function,
                          const Words& words);
    const Function* function_of(typename Processes::Process& process, pid_t pid, const Words& words,
                                FunctionProblem& problem);

    Processes processes_{most_bytes, most_bytes_of_process};
    UnnamedFrames unnamed_{Runtime::label};
};

template <typename Runtime>
auto FunctionNames<Runtime>::function_of(typename Processes::Process& process, pid_t pid,
                                         const Words& words, FunctionProblem& problem)
    -> const Function* {
    auto& functions = process.known.functions;
    if (const auto known = functions.find(words); known != functions.end())
        return &known->second;
    auto answer =
        processes_.read(process, pid, [words](const ReadMemory& read, const Layout& layout) {
            return Runtime::read(read, layout, words);
        });
    if (!answer) {
        problem = FunctionProblem::late;
        return nullptr;
    }
    if (auto* whole = std::get_if<Function>(&*answer)) {
        processes_.count(process, sizeof(Function) + entry_bytes + Runtime::bytes_of(*whole));
        return &functions.emplace(words, std::move(*whole)).first->second;
    }
    problem = std::get<FunctionProblem>(*answer);
    return nullptr;
}

template <typename Runtime>
const FunctionName* FunctionNames<Runtime>::known_name(pid_t pid, const Words& words) {
    const auto* const process = processes_.find(pid);
    if (!process)
        return nullptr;
    const auto known = process->known.names.find(words);
    return known != process->known.names.end() ? &known->second : nullptr;
}

template <typename Runtime>
const FunctionName* FunctionNames<Runtime>::read_name(pid_t pid, const Words& words,
                                                      FunctionProblem& problem) {
    auto* const process = processes_.find(pid);
    if (!process)
        return nullptr;
    processes_.make_room(*process);
    const Function* function = function_of(*process, pid, Runtime::function_words(words), problem);
    if (!function)
        return nullptr;
    return &keep_name(*process, *function, words);
}

template <typename Runtime>
const FunctionName& FunctionNames<Runtime>::keep_name(typename Processes::Process& process,
                                                      const Function& function,
                                                      const Words& words) {
    const Name& name =
        process.known.names.emplace(words, Runtime::name(function, words)).first->second;
    processes_.count(process, sizeof(Name) + entry_bytes + name.file.capacity() +
                                  name.frame.function.capacity() + name.frame.file.capacity());
    return name;
}

template <typename Runtime>
const FunctionName& FunctionNames<Runtime>::name(std::span<const pid_t> lineage,
                                                 const Words& words) {
    for (const pid_t pid : lineage)
        if (const Name* const known = known_name(pid, words))
            return *known;
    FunctionProblem problem = FunctionProblem::unreadable; // the process's own
    for (const pid_t pid : lineage) {
        FunctionProblem its_own = FunctionProblem::unreadable;
        if (const Name* const read = read_name(pid, words, its_own))
            return *read;
        // Who was not asked might have known it.
        if (pid == lineage.front() || its_own == FunctionProblem::late)
            problem = its_own;
    }
    if constexpr (requires { Runtime::without_reading(words, problem); })
        if (const auto function = Runtime::without_reading(words, problem))
            for (const pid_t pid : lineage)
                if (auto* const process = processes_.find(pid))
                    return keep_name(*process, *function, words);
    return unnamed_.one(problem);
}

} // namespace auger
