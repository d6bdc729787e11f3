// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessMemory: the memory of another process, as somebody reads it who goes on to higher
// addresses most of the time, as walks of stacks do: a piece is read at a time.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/memory.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

enum class MemoryRead {
    whole,
    unreadable, // not all of it is there, or the process is gone
    late,       // its owner, who may serve pages by hand, lets us wait (run_in_time.h)
};

// Of the process that the thread is of.
MemoryRead read_process_memory(pid_t tid, uint64_t address, void* bytes, size_t size);

struct MemoryRange {
    uint64_t address;
    std::span<std::byte> bytes;
};
// The same of several, one after the other: there is little time in which the process may go on in
// between.
MemoryRead read_process_memory(pid_t tid, std::span<const MemoryRange> ranges);

// The same without a bound of time: for work of run_in_time().
//
// process_vm_readv(2) pins pages, and of those that forked processes share it makes the one whose
// memory is read a copy of its own, which is not there meanwhile. So pages that are present, and no
// file's (proc_pid_pagemap(5)), are read by /proc/PID/mem. That one would wait for others, as file
// systems, where no signal ends it, and hold the process's locks: the rest is left to
// process_vm_readv(2), as is all memory where the two files may not be opened (CAP_DAC_READ_SEARCH
// where it is another user's).
class OpenMemory {
  public:
    // Of the process that the thread is of; of one that is gone, or that has executed another
    // program since, nothing can be read.
    explicit OpenMemory(pid_t tid);

    // Whether all of it could be read.
    bool copy(uint64_t address, void* bytes, size_t size) const;

  private:
    enum class Pages { present_private, others, gone }; // `gone`: the memory has no process
    Pages pages(uint64_t address, size_t size) const;

    pid_t tid_;
    UniqueFd bytes_, pages_;
};

class ProcessMemory final : public Memory {
  public:
    // Of a process that is gone nothing can be read.
    explicit ProcessMemory(pid_t pid);

    // May be what stood there when a word near it was read: to see changes, take another one.
    std::optional<uint64_t> word(uint64_t address) override;
    // It let us wait; it is not asked for more.
    bool late() const { return late_; }

  private:
    bool read(uint64_t address, void* bytes, size_t size);

    static constexpr size_t window_bytes = 1024;

    pid_t tid_; // a thread that has the memory
    bool late_ = false;
    uint64_t start_ = 0;
    size_t words_ = 0; // in the window, from start_
    std::array<uint64_t, window_bytes / sizeof(uint64_t)> window_;
};

} // namespace auger
