// SPDX-License-Identifier: GPL-3.0-or-later
// BoundedMemory: a process's memory as it is while something is looked up in it: pages that were
// read are kept, and there are so many of them. Whoever reads on after a failure gets zeros.
#pragma once

#include "loader/process/memory_pages.h"
#include "loader/runtimes/read_memory.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace auger {

class BoundedMemory {
  public:
    static constexpr size_t most_pages = 1024;

    explicit BoundedMemory(const ReadMemory& read) : read_(read) {}

    template <typename Value>
    bool get(uint64_t address, Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        value = {};
        return bytes(address, reinterpret_cast<std::byte*>(&value), sizeof value);
    }
    // Up to a zero, and to so many characters.
    std::string text(uint64_t address, size_t limit) {
        std::string text;
        for (char letter = 0; text.size() < limit; text.push_back(letter))
            if (!get(address + text.size(), letter) || letter == 0)
                break;
        return text;
    }
    bool bytes(uint64_t address, std::byte* to, size_t size) {
        return copy_from_pages(address, to, size, [this](uint64_t number) { return page(number); });
    }
    // Something could not be read.
    bool failed() const { return failed_; }
    // ... since the process lets us wait: see MemoryRead.
    bool late() const { return late_; }

  private:
    const MemoryPage* page(uint64_t number) {
        if (failed_)
            return nullptr;
        if (const auto known = pages_.find(number); known != pages_.end())
            return &known->second;
        failed_ = true;
        if (pages_.size() >= most_pages)
            return nullptr;
        MemoryPage& page = pages_[number];
        const MemoryRead read = read_(number * page_bytes, page.data(), page.size());
        late_ = read == MemoryRead::late;
        failed_ = read != MemoryRead::whole;
        return failed_ ? nullptr : &page;
    }

    const ReadMemory& read_;
    std::unordered_map<uint64_t, MemoryPage> pages_;
    bool failed_ = false;
    bool late_ = false;
};

} // namespace auger
