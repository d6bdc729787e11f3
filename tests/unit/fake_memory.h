// SPDX-License-Identifier: GPL-3.0-or-later
// FakeMemory: a process's memory at made-up addresses, of which each read is counted.
#pragma once

#include "loader/process/process_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

namespace auger {

struct FakeMemory {
    std::map<uint64_t, std::vector<std::byte>> pieces;
    size_t reads = 0;
    MemoryRead answer = MemoryRead::unreadable; // where nothing is
    std::function<void(size_t)> before = [](size_t) {};

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        before(reads++);
        const auto next = pieces.upper_bound(address);
        if (next == pieces.begin())
            return answer;
        const auto& [start, content] = *std::prev(next);
        if (address - start > content.size() || size > content.size() - (address - start))
            return answer;
        std::memcpy(bytes, content.data() + (address - start), size);
        return MemoryRead::whole;
    }
    template <typename Number>
    void put(uint64_t piece, size_t offset, Number number) {
        auto& content = pieces[piece];
        content.resize(std::max(content.size(), offset + sizeof number));
        std::memcpy(content.data() + offset, &number, sizeof number);
    }
};

} // namespace auger
