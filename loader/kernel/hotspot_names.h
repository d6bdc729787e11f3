// SPDX-License-Identifier: GPL-3.0-or-later
// HotspotNames: from the words that a walk has of HotSpot's frames to methods, files and lines,
// which are read out of the process at once: code is given up, and its memory becomes others'.
#pragma once

#include "loader/base/read_clock.h"
#include "loader/kernel/process_names.h"
#include "loader/runtimes/hotspot/frame_reader.h"
#include "loader/runtimes/hotspot/layout.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
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
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 32 << 20;

    // `believed_ns`: how long names of interpreted methods are believed. Classes are unloaded, and
    // others of the same form, as those that reflection makes, may come to the same addresses: the
    // cookie is the same. Compiled code has a number that is never used again.
    explicit HotspotNames(uint64_t believed_ns = 10 * second_ns) : believed_ns_(believed_ns) {}

    // The process runs a HotSpot of this layout since it has executed its program.
    void set_layout(pid_t pid, uint64_t executed_ns, std::shared_ptr<const HotspotLayout> layout) {
        processes_.set_layout(pid, executed_ns, std::move(layout));
    }
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }

    // Of a frame's two words: see bpf/wire/hotspot.h. Until the next call.
    const Name& name(pid_t pid, uint64_t first, uint64_t second);
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by Missing.
    const std::array<uint64_t, causes>& missing() const { return missing_; }

  private:
    struct Known {
        Name name;
        uint64_t read_ns;
    };
    using Names = std::unordered_map<FrameKey, Known, FrameKeyHash>; // by a frame's words
    using Processes = ProcessNames<HotspotLayout, Names>;

    const Name& unnamed(Missing cause);
    HotspotFrameAnswer read(Processes::Process& process, pid_t pid, const FrameKey& words);

    const uint64_t believed_ns_;
    Processes processes_{most_bytes, most_bytes_of_process};
    std::array<uint64_t, causes> missing_{};
};

} // namespace auger
