// SPDX-License-Identifier: GPL-3.0-or-later
// Words of a stack (bpf/unwind_table.h) that are of runtimes' frames.
#pragma once

#include "bpf/unwind_table.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace auger {

// Of a frame that has two pairs of words.
inline size_t hash_of_pairs(uint64_t first, uint64_t second, uint64_t third, uint64_t fourth) {
    const uint64_t one = first ^ second * 0x9e3779b97f4a7c15;
    const uint64_t other = third ^ fourth * 0x9e3779b97f4a7c15;
    return (one ^ other * 0xc2b2ae3d27d4eb4f) * 0xff51afd7ed558ccd >> 7;
}

// Where in a stack the first pair begins of which `is_one` says that it is one; words.size():
// there is none.
template <typename IsOne>
size_t find_pair(std::span<const uint64_t> words, const IsOne& is_one) {
    for (size_t at = 0; at < words.size(); at++) {
        if (words[at] & WIRE_STACK_CUT || !(words[at] & WIRE_FRAME_RUNTIME))
            continue;
        if (is_one(words[at]))
            return at;
        at++; // the pair's other word
    }
    return words.size();
}

} // namespace auger
