// SPDX-License-Identifier: GPL-3.0-or-later
// V8Names: from the words that a walk has of V8's frames to functions, files and lines, which are
// read out of the process at once: objects move and die, and their memory becomes others'.
#pragma once

#include "loader/kernel/process_names.h"
#include "loader/runtimes/v8/code_reader.h"
#include "loader/runtimes/v8/function_reader.h"
#include "loader/runtimes/v8/script_lines.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace auger {

// What a walk has of a frame: see bpf/wire/v8.h.
struct V8FrameWords {
    uint64_t first = 0, second = 0;
    uint64_t code = 0, code_second = 0; // 0: there are none
    friend bool operator==(const V8FrameWords&, const V8FrameWords&) = default;
};

class V8Names {
  public:
    struct Name {
        std::string file;     // the module's path; "[javascript]": of no file
        uint64_t address = 0; // in it: another one for each other function and line
        Frame frame;
    };
    // Why frames have no names.
    enum class Missing : uint8_t { unreadable, gone, late };
    static constexpr size_t causes = 3;
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 32 << 20;

    // The process runs a V8 of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const V8Layout> layout) {
        processes_.set_layout(pid, executed_ns, std::move(layout));
    }
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // Innermost first: those that are inlined in one another at the frame's place, then the
    // function whose frame it is. Until the next call.
    using Names = std::vector<Name>;
    const Names& names(pid_t pid, const V8FrameWords& words);
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by Missing.
    const std::array<uint64_t, causes>& missing() const { return missing_; }

  private:
    struct WordsHash {
        size_t operator()(const V8FrameWords& words) const noexcept;
    };
    struct Known {
        std::unordered_map<V8FrameWords, Names, WordsHash> names;
        std::map<V8Script, V8Lines> scripts;
        void clear() {
            names.clear();
            scripts.clear();
        }
    };
    using Processes = ProcessNames<V8Layout, Known>;

    const Names& unnamed(FunctionProblem problem);
    std::variant<Names, FunctionProblem> read(Processes::Process& process, pid_t pid,
                                              const V8FrameWords& words);
    std::variant<const V8Lines*, FunctionProblem> lines_of(Processes::Process& process, pid_t pid,
                                                           const V8Script& script);

    Processes processes_{most_bytes, most_bytes_of_process};
    std::array<uint64_t, causes> missing_{};
};

} // namespace auger
