// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of a process that is made up.
#pragma once

#include "loader/runtimes/read_memory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

namespace auger::test {

// By pages, since that is how it is read.
struct FakePages {
    static constexpr uint64_t page_bytes = 4096;
    std::map<uint64_t, std::array<std::byte, page_bytes>> pages;
    size_t reads = 0;
    MemoryRead answer = MemoryRead::unreadable; // where nothing is
    std::function<void(size_t)> before = [](size_t) {};

    void put_bytes(uint64_t address, const void* bytes, size_t size) {
        for (size_t i = 0; i < size; i++, address++)
            pages[address / page_bytes][address % page_bytes] =
                static_cast<const std::byte*>(bytes)[i];
    }
    template <typename Number>
    void put(uint64_t address, Number number) {
        put_bytes(address, &number, sizeof number);
    }
    void put_text(uint64_t address, std::string_view text) {
        put_bytes(address, text.data(), text.size());
        put(address + text.size(), '\0');
    }
    MemoryRead get(uint64_t address, void* bytes, size_t size) {
        before(reads++);
        for (size_t i = 0; i < size; i++, address++) {
            const auto page = pages.find(address / page_bytes);
            if (page == pages.end())
                return answer;
            static_cast<std::byte*>(bytes)[i] = page->second[address % page_bytes];
        }
        return MemoryRead::whole;
    }
    ReadMemory reader() {
        return [this](uint64_t address, void* bytes, size_t size) {
            return get(address, bytes, size);
        };
    }
};

} // namespace auger::test
