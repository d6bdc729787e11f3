// SPDX-License-Identifier: GPL-3.0-or-later
// PythonNames: from the words that a walk has of CPython's frames to functions, files and lines,
// which are read out of the process at once: functions die, and their memory becomes others'.
#pragma once

#include "loader/kernel/process_names.h"
#include "loader/runtimes/python/code_reader.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace auger {

class PythonNames {
  public:
    struct Name {
        std::string file;     // the module's path; "[python]" where `frame` says what is missing
        uint64_t address = 0; // in it: another one for each other function and line
        Frame frame;
    };
    // Why frames have no names.
    enum class Missing : uint8_t { unreadable, gone, late };
    static constexpr size_t causes = 3;
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 16 << 20;

    // The process runs a CPython of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const PythonLayout> layout) {
        processes_.set_layout(pid, executed_ns, std::move(layout));
    }
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // Of a frame's two words: see bpf/wire/python.h. Until the next call.
    const Name& name(pid_t pid, uint64_t first, uint64_t second);
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by Missing.
    const std::array<uint64_t, causes>& missing() const { return missing_; }

  private:
    struct Known {
        std::unordered_map<FrameKey, PythonCode, FrameKeyHash> codes; // by address and cookie
        std::unordered_map<FrameKey, Name, FrameKeyHash> names;       // by a frame's words
        void clear() {
            codes.clear();
            names.clear();
        }
    };
    using Processes = ProcessNames<PythonLayout, Known>;

    const Name& unnamed(Missing cause);
    const PythonCode* code_of(Processes::Process& process, pid_t pid, uint64_t address,
                              uint32_t cookie, Missing& missing);

    Processes processes_{most_bytes, most_bytes_of_process};
    std::array<uint64_t, causes> missing_{};
};

} // namespace auger
