// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace auger {

inline constexpr size_t page_bytes = 4096;
using MemoryPage = std::array<std::byte, page_bytes>;

// Bytes from pages: `page_of` has one by its number, or null. False: not all of them are there.
template <typename PageOf>
bool copy_from_pages(uint64_t address, std::byte* to, size_t size, PageOf page_of) {
    while (size > 0) {
        const MemoryPage* const from = page_of(address / page_bytes);
        if (!from)
            return false;
        const size_t at = address % page_bytes, part = std::min(size, page_bytes - at);
        std::memcpy(to, from->data() + at, part);
        address += part;
        to += part;
        size -= part;
    }
    return true;
}

} // namespace auger
