// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessMemory: the memory of another process, as somebody reads it who goes on to higher
// addresses most of the time, as walks of stacks do: a piece is read at a time.
#pragma once

#include "loader/base/memory.h"

#include <sys/types.h>

#include <array>
#include <cstddef>

namespace auger {

class ProcessMemory final : public Memory {
  public:
    // Of a process that is gone nothing can be read.
    explicit ProcessMemory(pid_t pid);

    // May be what stood there when a word near it was read: to see changes, take another one.
    std::optional<uint64_t> word(uint64_t address) override;

  private:
    bool read(uint64_t address, void* bytes, size_t size) const;

    static constexpr size_t window_bytes = 1024;

    pid_t tid_; // a thread that has the memory
    uint64_t start_ = 0;
    size_t words_ = 0; // in the window, from start_
    std::array<uint64_t, window_bytes / sizeof(uint64_t)> window_;
};

} // namespace auger
