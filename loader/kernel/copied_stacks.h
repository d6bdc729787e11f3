// SPDX-License-Identifier: GPL-3.0-or-later
// CopiedStacks: goes on with walks of stacks that the kernel side had to leave, when tables and
// mappings have come: those of a process's first milliseconds.
#pragma once

#include "loader/kernel/live_unwind.h"
#include "loader/stream/wire_decoder.h"

#include <cstdint>
#include <span>
#include <vector>

namespace auger {

class CopiedStacks {
  public:
    explicit CopiedStacks(LiveUnwind& unwind) : unwind_(unwind) {}

    // Sets user_frames of a sample that has a copy to its whole stack, or as far as it goes; until
    // the next call. False: a table that it needs is being made; ask again in a moment, before any
    // later record, so that their order stays.
    bool complete(WireSampleView& sample, uint64_t now_ns);
    // Whether the last answer was false.
    bool waiting() const { return waiting_since_ns_ != 0; }

  private:
    LiveUnwind& unwind_;
    std::vector<uint64_t> frames_;
    std::vector<uint64_t> begins_;  // of frames that were walked here
    uint64_t waiting_since_ns_ = 0; // 0: not
    uint64_t second_begin_ns_ = 0;  // in which they were waited for
    uint64_t waited_ns_ = 0;        // of it
    bool impatient_ = false;        // a table takes long: not waited for any more
};

} // namespace auger
