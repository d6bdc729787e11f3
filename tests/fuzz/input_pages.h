// SPDX-License-Identifier: GPL-3.0-or-later
// InputPages: a process's memory made of a fuzzer's input, for whoever reads pages: the input
// stands at each multiple of 64 KB and goes on with zeros, and refers to itself, since of each word
// only the lowest bits are an address.
#pragma once

#include "loader/runtimes/bounded_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace auger::test {

class InputPages {
  public:
    explicit InputPages(std::span<const std::byte> content) : content_(content) {}

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        if (++reads_ > most_reads)
            std::abort();
        if (address >> 60)
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        std::memset(bytes, 0, size);
        const size_t offset = address & 0xffff;
        if (offset < content_.size())
            std::memcpy(bytes, content_.data() + offset, std::min(size, content_.size() - offset));
        return MemoryRead::whole;
    }
    ReadMemory reader() {
        return [this](uint64_t address, void* bytes, size_t size) {
            return read(address, bytes, size);
        };
    }

  private:
    // A question is asked several times.
    static constexpr size_t most_reads = 16 * BoundedMemory::most_pages;

    std::span<const std::byte> content_;
    size_t reads_ = 0;
};

} // namespace auger::test
