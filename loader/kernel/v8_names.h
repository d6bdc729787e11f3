// SPDX-License-Identifier: GPL-3.0-or-later
// V8Names: from the words that a walk has of V8's frames to functions, files and lines, which are
// read out of the process at once: objects move and die, and their memory becomes others'.
#pragma once

#include "loader/runtimes/v8/code_reader.h"
#include "loader/runtimes/v8/function_reader.h"
#include "loader/runtimes/v8/script_lines.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
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
    // Of all processes, and of one: what is beyond is forgotten, and read again.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 32 << 20;

    // The process runs a V8 of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const V8Layout> layout);
    // It runs none any more. What is known of it stays for a while: of records that are still to be
    // taken in.
    void end(pid_t pid);

    // Innermost first: those that are inlined in one another at the frame's place, then the
    // function whose frame it is. Until the next call.
    using Names = std::vector<Name>;
    const Names& names(pid_t pid, const V8FrameWords& words);
    // Of what is known of all processes.
    size_t memory_bytes() const { return bytes_; }
    // Frames without names, by Missing.
    const std::array<uint64_t, causes>& missing() const { return missing_; }

  private:
    struct WordsHash {
        size_t operator()(const V8FrameWords& words) const noexcept;
    };
    struct Process {
        uint64_t executed_ns = 0;
        std::shared_ptr<const V8Layout> layout;
        bool ended = false;
        std::unordered_map<V8FrameWords, Names, WordsHash> names;
        std::map<V8Script, V8Lines> scripts;
        size_t bytes = 0; // of both
        // Of one that let us wait: until when it is not asked again, and how long that is.
        uint64_t spared_until_ns = 0;
        uint64_t spared_ns = 0;
    };
    static constexpr size_t most_ended = 1024;

    void count(Process& process, size_t bytes);
    void forget_names(Process& process);
    void make_room(Process& process);
    const Names& unnamed(V8Problem problem);
    // Reads in bounded time.
    template <typename Answer, typename Work>
    std::variant<Answer, V8Problem> in_time(Process& process, pid_t pid, Work work);
    std::variant<Names, V8Problem> read(Process& process, pid_t pid, const V8FrameWords& words);
    std::variant<const V8Lines*, V8Problem> lines_of(Process& process, pid_t pid,
                                                     const V8Script& script);

    std::unordered_map<pid_t, Process> processes_;
    std::deque<pid_t> ended_; // in this order; some of the numbers may be in use again
    size_t bytes_ = 0;        // of all processes
    std::array<uint64_t, causes> missing_{};
};

} // namespace auger
