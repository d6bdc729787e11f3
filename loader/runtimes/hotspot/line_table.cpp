// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/line_table.h"

#include <cstdint>

namespace auger {

uint8_t HotspotNumbers::byte() {
    if (bytes_.empty()) {
        failed_ = true;
        return 0;
    }
    const auto value = static_cast<uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return value;
}

uint32_t HotspotNumbers::number() {
    constexpr unsigned last = 192, bits = 6, most = 5; // a byte below `last` is the last one
    uint32_t sum = 0;
    for (unsigned i = 0; i < most; i++) {
        const uint8_t value = byte();
        if (failed_ || value < least_) {
            failed_ = true;
            return 0;
        }
        sum += static_cast<uint32_t>(value - least_) << (i * bits);
        if (value < last)
            break;
    }
    return sum;
}

int32_t HotspotNumbers::signed_number() {
    const uint32_t value = number();
    return static_cast<int32_t>(value >> 1 ^ (~(value & 1) + 1));
}

uint32_t hotspot_line(std::span<const std::byte> table, uint32_t bytecode, bool without_zero) {
    // Pairs of differences, from (0, 0) on: in one byte where both are small.
    constexpr uint8_t end = 0, escape = 0xff, line_bits = 3, line_mask = 7;
    HotspotNumbers numbers(table, without_zero);
    uint32_t at = 0, line = 0, found = 0, found_at = 0;
    while (true) {
        const uint8_t value = numbers.byte();
        if (numbers.failed() || value == end)
            break;
        if (value == escape) {
            at += static_cast<uint32_t>(numbers.signed_number());
            line += static_cast<uint32_t>(numbers.signed_number());
            if (numbers.failed())
                break;
        } else {
            at += value >> line_bits;
            line += value & line_mask;
        }
        // They need not be in order. As HotSpot looks them up (Method::line_number_from_bci).
        if (at <= bytecode && at >= found_at) {
            found = line;
            found_at = at;
        }
        if (at == bytecode)
            break;
    }
    return found <= INT32_MAX ? found : 0;
}

} // namespace auger
