// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bpf/wire/perl.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace auger {

// What a walk knows a file's name by, whatever is behind its zero.
inline uint64_t perl_file_mark(std::string_view text, char behind = 'x') {
    std::array<char, WIRE_PERL_FILE> bytes;
    bytes.fill(behind);
    const size_t size = std::min(text.size(), bytes.size() - 1);
    std::memcpy(bytes.data(), text.data(), size);
    bytes[size] = '\0';
    uint64_t mark = size + 1;
    for (size_t at = 0; at < size + 1; at += 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (const size_t left = size + 1 - at; left < 8)
            word &= ~uint64_t{0} >> (64 - 8 * left);
        mark = wire_perl_mark(mark, word);
    }
    return mark;
}

// Likewise a name, of which the first word is hash and length.
inline uint64_t perl_name_mark(uint64_t hash_and_length, std::string_view text) {
    return wire_perl_mark(hash_and_length, perl_file_mark(text));
}

} // namespace auger
