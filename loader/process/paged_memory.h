// SPDX-License-Identifier: GPL-3.0-or-later
// PagedMemory: a process's memory, page by page as it is first asked for.
#pragma once

#include "loader/process/memory_pages.h"
#include "loader/process/process_memory.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace auger {

class PagedMemory {
  public:
    explicit PagedMemory(pid_t pid);

    // All that is asked for until the next call may take so long together, and a little more.
    void allow(uint64_t ns);
    // All of it or nothing.
    bool read(uint64_t address, void* bytes, size_t size);
    // The process lets us wait for its memory (MemoryRead::late), or all took too long: nothing
    // more is read.
    bool late() const { return late_; }

  private:
    static constexpr size_t most_pages = 4096; // more are forgotten, and read again

    const MemoryPage* page(uint64_t number);

    pid_t tid_;
    std::unordered_map<uint64_t, std::unique_ptr<MemoryPage>> pages_; // null: it is not there
    uint64_t until_ns_ = UINT64_MAX;
    bool late_ = false;
};

} // namespace auger
