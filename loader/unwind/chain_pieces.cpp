// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/chain_pieces.h"

namespace auger {
namespace {

bool is_boundary(uint64_t first) {
    return !(first & ~WIRE_FRAME_KIND);
}

std::vector<std::span<const uint64_t>> split(std::span<const uint64_t> pieces) {
    std::vector<std::span<const uint64_t>> parts;
    size_t begin = 0;
    for (size_t at = 0; at + 1 < pieces.size(); at += 2) {
        if (!is_boundary(pieces[at]))
            continue;
        parts.push_back(pieces.subspan(begin, at - begin));
        begin = at + 2;
    }
    if (begin + 1 < pieces.size())
        parts.push_back(pieces.subspan(begin, (pieces.size() - begin) / 2 * 2));
    return parts;
}

} // namespace

std::vector<uint64_t> place_pieces(const NativeFrames& natives, std::span<const uint64_t> pieces,
                                   const std::function<bool(uint64_t code)>& is_loop) {
    const std::span<const uint64_t> words = natives.words;
    const auto parts = split(pieces);
    std::vector<size_t> loops; // leaf first
    for (size_t i = 0; i < words.size(); i++) {
        // Of another runtime in the process.
        if (words[i] & WIRE_FRAME_RUNTIME) {
            i++;
            continue;
        }
        const bool is_next = i == 0 ? natives.leaf_is_next : (words[i] & WIRE_FRAME_EXACT) != 0;
        const uint64_t address = words[i] & ~WIRE_FRAME_EXACT;
        if (is_loop(is_next ? address : address - 1))
            loops.push_back(i);
    }
    std::vector<uint64_t> placed;
    const auto place = [&](std::span<const uint64_t> part) {
        placed.insert(placed.end(), part.begin(), part.end());
    };
    size_t part = 0, loop = 0;
    if (natives.whole) {
        for (; parts.size() - part > loops.size(); part++)
            place(parts[part]);
        loop = loops.size() - (parts.size() - part);
    }
    const size_t leaf = placed.size();
    for (size_t i = 0; i < words.size(); i++) {
        placed.push_back(words[i]);
        if (loop < loops.size() && loops[loop] == i) {
            loop++;
            if (part < parts.size())
                place(parts[part++]);
        }
    }
    // Of a first word alone it is known without being said.
    if (leaf > 0 && leaf < placed.size() && natives.leaf_is_next)
        placed[leaf] |= WIRE_FRAME_EXACT;
    for (; part < parts.size(); part++)
        place(parts[part]);
    return placed;
}

} // namespace auger
