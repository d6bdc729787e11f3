// SPDX-License-Identifier: GPL-3.0-or-later
// A number out of bytes that may be fewer than they claim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace auger {

// Zero where the number does not lie within the bytes.
template <typename Number>
Number number_at(std::span<const std::byte> bytes, uint64_t offset) {
    Number number{};
    if (offset <= bytes.size() && sizeof number <= bytes.size() - offset)
        std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

} // namespace auger
