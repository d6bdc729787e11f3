// SPDX-License-Identifier: GPL-3.0-or-later
// HotspotNames: from the words that a walk has of HotSpot's frames to methods, files and lines,
// which are read out of the process at once: code is given up, and its memory becomes others'.
#pragma once

#include "loader/runtimes/hotspot/frame_reader.h"
#include "loader/runtimes/hotspot/layout.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

class HotspotNames {
  public:
    struct Name {
        // In the one module of all methods: a method is the same one wherever it is inlined.
        // Another one for each other chain of methods and lines.
        uint64_t address = 0;
        std::vector<Frame> frames; // innermost inlined first
    };
    // Why frames have no names.
    enum class Missing : uint8_t { unreadable, gone, late, interpreter };
    static constexpr size_t causes = 4;
    // Of all processes, and of one: what is beyond is forgotten, and read again.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 32 << 20;

    // The process runs a HotSpot of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const HotspotLayout> layout);
    // It runs none any more. What is known of it stays for a while: of records that are still to be
    // taken in.
    void end(pid_t pid);

    // Of a frame's two words: see bpf/wire/hotspot.h. Until the next call.
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
        size_t operator()(const Key& key) const noexcept;
    };
    struct Process {
        uint64_t executed_ns = 0;
        std::shared_ptr<const HotspotLayout> layout;
        bool ended = false;
        std::unordered_map<Key, Name, KeyHash> names; // by a frame's words
        size_t bytes = 0;                             // of them
        // Of one that let us wait: until when it is not asked again, and how long that is.
        uint64_t spared_until_ns = 0;
        uint64_t spared_ns = 0;
    };
    static constexpr size_t most_ended = 1024;

    void forget_names(Process& process);
    void make_room(Process& process);
    const Name& unnamed(Missing cause);
    HotspotFrameAnswer read(Process& process, pid_t pid, uint64_t first, uint64_t second);

    std::unordered_map<pid_t, Process> processes_;
    std::deque<pid_t> ended_; // in this order; some of the numbers may be in use again
    size_t bytes_ = 0;        // of all processes
    std::array<uint64_t, causes> missing_{};
};

} // namespace auger
