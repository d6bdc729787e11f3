// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace auger {

// In place of what is no character, U+FFFD.
inline void append_utf8(std::string& text, uint32_t character) {
    constexpr uint32_t replacement = 0xfffd;
    if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff)
        character = replacement;
    const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    const auto put_rest = [&](unsigned shift) { put(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0 | character >> 6);
        put_rest(0);
    } else if (character < 0x10000) {
        put(0xe0 | character >> 12);
        put_rest(6);
        put_rest(0);
    } else {
        put(0xf0 | character >> 18);
        put_rest(12);
        put_rest(6);
        put_rest(0);
    }
}

} // namespace auger
